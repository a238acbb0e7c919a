from __future__ import annotations

from local.template import Route, Template, resources, routes

CHAT = "ChatTurnFunction"

ROUTES = {
    ("POST", "/v1/chat", CHAT),
    ("POST", "/v1/confirmations/{id}", CHAT),
    ("POST", "/v1/live", CHAT),
    ("POST", "/v1/turns/{request_id}/stop", CHAT),
    ("GET", "/v1/sessions", CHAT),
    ("GET", "/v1/sessions/{id}", CHAT),
    ("PATCH", "/v1/sessions/{id}", CHAT),
    ("DELETE", "/v1/sessions/{id}", CHAT),
    ("GET", "/v1/me", CHAT),
    ("GET", "/v1/me/audit", CHAT),
    ("GET", "/v1/me/export", CHAT),
    ("DELETE", "/v1/me", CHAT),
    ("GET", "/v1/me/accepted", CHAT),
    ("DELETE", "/v1/me/accepted", CHAT),
    ("GET", "/v1/events", CHAT),
    ("GET", "/v1/extensions", CHAT),
    ("GET", "/v1/inspect", CHAT),
    ("GET", "/v1/health", CHAT),
    ("GET", "/v1/openapi.json", CHAT),
    ("POST", "/v1/openai/v1/chat/completions", CHAT),
    ("POST", "/v1/openai/v1/responses", CHAT),
    ("GET", "/v1/openai/v1/models", CHAT),
    ("GET", "/v1/openai/v1/models/{model}", CHAT),
    ("POST", "/v1/mcp", CHAT),
    ("GET", "/v1/mcp", CHAT),
    ("DELETE", "/v1/mcp", CHAT),
    ("GET", "/.well-known/oauth-protected-resource", CHAT),
    ("GET", "/.well-known/oauth-protected-resource/v1/mcp", CHAT),
    ("GET", "/", CHAT),
    ("POST", "/v1/extensions/{app_id}/call", CHAT),
    ("GET", "/v1/extensions/{app_id}/secrets", CHAT),
    ("PUT", "/v1/extensions/{app_id}/secrets/{name}", CHAT),
    ("DELETE", "/v1/extensions/{app_id}/secrets/{name}", CHAT),
    ("GET", "/v1/ext/{app_id}/webhook/{path+}", CHAT),
    ("POST", "/v1/ext/{app_id}/webhook/{path+}", CHAT),
    ("GET", "/v1/ext/{app_id}/oauth/{provider}/callback", CHAT),
    ("POST", "/v1/ext/{app_id}/oauth/{provider}/callback", CHAT),
    ("PUT", "/v1/extensions/{app_id}/installation", CHAT),
    ("DELETE", "/v1/extensions/{app_id}/installation", CHAT),
}
PUBLIC = {
    "/",
    "/v1/health",
    "/v1/openapi.json",
    "/v1/mcp",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/v1/mcp",
    "/v1/ext/{app_id}/webhook/{path+}",
    "/v1/ext/{app_id}/oauth/{provider}/callback",
}


def test_every_route_reaches_the_door(template: Template) -> None:
    found = routes(template)
    assert {route[:3] for route in found} == ROUTES
    assert len(found) == len(ROUTES)
    assert Route("POST", "/v1/chat", CHAT, public=False) in found


def test_only_page_health_webhooks_and_sign_ins_are_public(template: Template) -> None:
    assert {route.path for route in routes(template) if route.public} == PUBLIC


def test_after_the_transform_the_gateway_asks_for_a_token_everywhere_else(
    transformed: Template,
) -> None:
    body = transformed["Resources"]["Api"]["Properties"]["Body"]
    open_paths = {
        path
        for path, methods in body["paths"].items()
        for operation in methods.values()
        if [list(scheme) for scheme in operation["security"]] != [["Jwt"]]
    }
    assert open_paths == PUBLIC
    assert sum(len(methods) for methods in body["paths"].values()) == len(ROUTES)
    authorizer = body["components"]["securitySchemes"]["Jwt"]["x-amazon-apigateway-authorizer"]
    assert authorizer == {
        "type": "jwt",
        "identitySource": "$request.header.Authorization",
        "jwtConfiguration": {
            "issuer": {
                "Fn::If": [
                    "HasOwnPool",
                    {"Fn::Sub": "https://cognito-idp.${AWS::Region}.amazonaws.com/${UserPool}"},
                    {"Ref": "JwtIssuer"},
                ]
            },
            "audience": [
                {"Fn::If": ["HasOwnPool", {"Ref": "UserPoolClient"}, {"Ref": "JwtAudience"}]}
            ],
        },
    }


def test_the_handlers_get_payload_format_2(transformed: Template) -> None:
    operations = [
        operation
        for methods in transformed["Resources"]["Api"]["Properties"]["Body"]["paths"].values()
        for operation in methods.values()
    ]
    assert {
        operation["x-amazon-apigateway-integration"]["payloadFormatVersion"]
        for operation in operations
    } == {"2.0"}


def test_no_other_origin_may_call_unless_named_and_requests_are_throttled(
    template: Template,
) -> None:
    [(_, api)] = resources(template, "AWS::Serverless::HttpApi")
    origins = api["CorsConfiguration"]["AllowOrigins"]
    assert origins == {"Fn::If": ["HasOrigins", {"Ref": "AllowOrigins"}, ["https://none.invalid"]]}
    assert template["Parameters"]["AllowOrigins"]["Default"] == ""
    assert "AllowCredentials" not in api["CorsConfiguration"]
    assert set(api["DefaultRouteSettings"]) == {"ThrottlingRateLimit", "ThrottlingBurstLimit"}


def test_the_access_log_names_no_path_and_no_caller(template: Template) -> None:
    [(_, api)] = resources(template, "AWS::Serverless::HttpApi")
    log_format = api["AccessLogSettings"]["Format"]
    for secret in ("context.path", "sourceIp", "authorizer", "identity", "querystring"):
        assert secret not in log_format


def test_a_pool_of_its_own_is_made_on_request_and_lets_nobody_promote_himself(
    template: Template,
) -> None:
    pool, client = template["Resources"]["UserPool"], template["Resources"]["UserPoolClient"]
    assert pool["Condition"] == client["Condition"] == "HasOwnPool"
    assert template["Conditions"]["HasOwnPool"] == {"Fn::Equals": [{"Ref": "JwtIssuer"}, "cognito"]}
    assert pool["Properties"]["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}
    assert client["Properties"]["WriteAttributes"] == ["locale"]
