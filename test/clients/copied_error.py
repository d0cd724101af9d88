"""Copies a VideoError in each way that Python has, and compares the fields."""

import copy
import multiprocessing
import pickle

from video_generation_client import VideoError


def an_error():
    error = VideoError(
        "no", status=400, code="c", type="t", param="p", request_id="r", retry_after=1.5
    )
    error.idempotency_key = "key"
    error.task_id = "task"
    return error


def fail(_):
    raise an_error()


def check(found):
    expected = an_error()
    assert type(found) is VideoError, repr(found)
    assert (found.args, vars(found)) == (expected.args, vars(expected)), vars(found)


if __name__ == "__main__":
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        check(pickle.loads(pickle.dumps(an_error(), protocol)))
    check(copy.copy(an_error()))
    check(copy.deepcopy(an_error()))
    with multiprocessing.Pool(1) as pool:
        try:
            pool.map_async(fail, [0]).get(timeout=20)
        except VideoError as error:
            error.__cause__ = None
            check(error)
