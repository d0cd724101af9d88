// A larger size of the test of a failing receiver: 500 tasks. About half of the callbacks are
// delivered only at the second attempt.

import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { type Service, startService } from '../support/service';
import { testFailingReceiver } from '../system/failing-receiver';

let service: Service;
let sink: CallbackSink;
beforeAll(async () => {
  sink = await startCallbackSink();
  service = await startService({ allowHosts: [sink.hostPort] });
}, 60_000);
afterAll(async () => {
  await service?.close();
  await sink?.close();
});

testFailingReceiver(() => ({ service, sink }), { tasks: 500, minutes: 10 });
