import pytest

from local.template import Template, table_definitions

NOUNS = "Sessions Skeleton Cache Store Audit Events Transcripts Limits Connections".split()
TABLES = [f"{noun}Table" for noun in NOUNS]


@pytest.mark.parametrize("table", TABLES)
def test_a_table_expires_backs_up_encrypts_and_survives(template: Template, table: str) -> None:
    resource = template["Resources"][table]
    unless_said = {
        "Fn::Equals": [{"Ref": "ProtectData"}, template["Parameters"]["ProtectData"]["Default"]]
    }
    assert template["Conditions"]["DataIsProtected"] == unless_said
    properties = resource["Properties"]
    assert properties["BillingMode"] == "PAY_PER_REQUEST"
    assert properties["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    own = {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": {"Ref": "KmsKeyArn"}}
    assert properties["SSESpecification"] == {"Fn::If": ["KeyIsOwn", own, {"SSEEnabled": True}]}
    assert properties["DeletionProtectionEnabled"] == {"Fn::If": ["DataIsProtected", True, False]}
    assert resource["DeletionPolicy"] == "RetainExceptOnCreate"
    assert resource["UpdateReplacePolicy"] == "Retain"
    keys = table_definitions(template)[table]["KeySchema"]
    assert [(k["AttributeName"], k["KeyType"]) for k in keys] == [("pk", "HASH"), ("sk", "RANGE")]


ENTRY = ["etag", "created_at", "updated_at", "data"]
"""What an index that an author declares holds of a document."""


def test_these_are_the_tables_and_their_indexes(template: Template) -> None:
    assert sorted(table_definitions(template)) == sorted(TABLES)
    found = {
        (table, index["IndexName"]): (
            [key["AttributeName"] for key in index["KeySchema"]],
            index["Projection"].get("NonKeyAttributes", index["Projection"]["ProjectionType"]),
        )
        for table, definition in table_definitions(template).items()
        for index in definition.get("GlobalSecondaryIndexes", [])
        + definition.get("LocalSecondaryIndexes", [])
    }
    assert found == {
        ("SkeletonTable", "due"): (["due_shard", "due_at"], ["app_id", "section", "user", "ttl"]),
        ("StoreTable", "by_created"): (["pk", "created"], "ALL"),
        **{("StoreTable", f"by_{n}"): (["pk", f"i{n}"], ENTRY) for n in range(1, 5)},
        ("StoreTable", "users"): (["users_key", "user_id"], "KEYS_ONLY"),
        ("TranscriptsTable", "by_touched"): (["pk", "touched_at"], "ALL"),
    }
