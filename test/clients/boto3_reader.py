"""Lists a bucket with boto3. Prints one JSON object with the length, type, body and a range of each object."""

import json
import sys

import boto3

endpoint, bucket = sys.argv[1:]
s3 = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")


def described(key):
    whole = s3.get_object(Bucket=bucket, Key=key)
    part = s3.get_object(Bucket=bucket, Key=key, Range="bytes=2-4")
    return {
        "length": s3.head_object(Bucket=bucket, Key=key)["ContentLength"],
        "type": whole["ContentType"],
        "body": whole["Body"].read().decode(),
        "range": part["Body"].read().decode(),
    }


found = s3.list_objects_v2(Bucket=bucket, Prefix="results/")["Contents"]
print(json.dumps({item["Key"]: described(item["Key"]) for item in found}))
