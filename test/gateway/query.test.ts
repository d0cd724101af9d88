// Tests the reader of queries against the parser of Koa, which needs a second for a long query.

import Koa from 'koa';
import { queryOf } from '../../src/gateway/query';

const parsedByKoa = (querystring: string) => {
  const request = Object.create(new Koa().request) as { req: object; query: object };
  request.req = { url: `/x?${querystring}` };
  return request.query;
};

test.each([
  '',
  'a',
  'a=1&b=2',
  'a=1&a=2&b=&a=3',
  'a&&&=&=x',
  'a=%00%zz+%2B&%E4%BD%A0=1',
  '__proto__=1&constructor=2&toString=3&__proto__=4',
  'filter.task_ids=x&filter.task_ids=y',
])('the query %p has the same texts as for Koa', (querystring) => {
  expect(Object.entries(queryOf({ querystring }))).toEqual(
    Object.entries(parsedByKoa(querystring)),
  );
});
