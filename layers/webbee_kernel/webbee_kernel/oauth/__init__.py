"""Sign-in with other services (OAuth 2.0, authorization code with PKCE).

May import: surfaces, stores, config and what is below them.
Entrance: `signin.SignIns` begins one; `extensions.signin_calls` ends it.
"""
