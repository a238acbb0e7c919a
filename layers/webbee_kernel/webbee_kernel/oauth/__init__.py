"""Sign-in with other services (OAuth 2.0, authorization code with PKCE): `ctx.oauth_authorize_url`
begins it, the callback route ends it."""
