from local.template import Template, resources, routes
from tests.template.conftest import chosen

PUBLIC = {
    ("OPTIONS", "/v1/{proxy+}"),
    ("GET", "/"),
    ("GET", "/v1/health"),
    ("GET", "/v1/openapi.json"),
    ("POST", "/v1/mcp"),
    ("GET", "/.well-known/oauth-protected-resource"),
    ("GET", "/.well-known/oauth-protected-resource/v1/mcp"),
    ("ANY", "/v1/ext/{app_id}/webhook/{path+}"),
    ("ANY", "/v1/ext/{app_id}/oauth/{provider}/callback"),
}
ROUTES = PUBLIC | {("ANY", "/v1/{proxy+}")}


def test_every_route_reaches_the_door_with_a_token_but_for_those_that_are_public(
    template: Template, transformed: Template
) -> None:
    found = routes(template)
    assert {(r.method, r.path) for r in found} == ROUTES
    assert len(found) == len(ROUTES)
    assert {r.function for r in found} == {"ChatTurnFunction"}
    assert {(r.method, r.path) for r in found if r.public} == PUBLIC

    body = transformed["Resources"]["Api"]["Properties"]["Body"]
    open_paths = {
        ("ANY" if method == "x-amazon-apigateway-any-method" else method.upper(), path)
        for path, methods in body["paths"].items()
        for method, operation in methods.items()
        if [list(scheme) for scheme in operation["security"]] != [["Jwt"]]
    }
    assert open_paths == PUBLIC
    operations = [one for methods in body["paths"].values() for one in methods.values()]
    assert len(operations) == len(ROUTES)
    for one in operations:
        assert one["x-amazon-apigateway-integration"]["payloadFormatVersion"] == "2.0"
    authorizer = body["components"]["securitySchemes"]["Jwt"]["x-amazon-apigateway-authorizer"]
    pool = {"Fn::Sub": "https://cognito-idp.${AWS::Region}.amazonaws.com/${UserPool}"}
    client = {"Fn::If": ["HasOwnPool", {"Ref": "UserPoolClient"}, {"Ref": "JwtAudience"}]}
    assert authorizer == {
        "type": "jwt",
        "identitySource": "$request.header.Authorization",
        "jwtConfiguration": {
            "issuer": {"Fn::If": ["HasOwnPool", pool, {"Ref": "JwtIssuer"}]},
            "audience": [client],
        },
    }


def test_no_other_origin_may_call_and_the_log_names_no_caller(template: Template) -> None:
    [(_, api)] = resources(template, "AWS::Serverless::HttpApi")
    origins = api["CorsConfiguration"]["AllowOrigins"]
    assert origins == {"Fn::If": ["HasOrigins", {"Ref": "AllowOrigins"}, ["https://none.invalid"]]}
    assert template["Parameters"]["AllowOrigins"]["Default"] == ""
    assert "AllowCredentials" not in api["CorsConfiguration"]
    capacity = {"Capacity": template["Parameters"]["Capacity"]["Default"]}
    limits = {name: chosen(v, capacity) for name, v in api["DefaultRouteSettings"].items()}
    assert limits == {"ThrottlingRateLimit": "100", "ThrottlingBurstLimit": "200"}

    log_format = api["AccessLogSettings"]["Format"]
    for secret in ("context.path", "sourceIp", "authorizer", "identity", "querystring"):
        assert secret not in log_format


def test_a_pool_is_made_on_request_and_lets_nobody_promote_himself(template: Template) -> None:
    pool, client = template["Resources"]["UserPool"], template["Resources"]["UserPoolClient"]
    assert pool["Condition"] == client["Condition"] == "HasOwnPool"
    assert template["Conditions"]["HasOwnPool"] == {"Fn::Equals": [{"Ref": "JwtIssuer"}, "cognito"]}
    assert pool["Properties"]["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}
    assert client["Properties"]["WriteAttributes"] == ["locale"]
