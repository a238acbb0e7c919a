"""Adapters to AWS services other than the tables: Lambda, SQS, and later Bedrock."""
