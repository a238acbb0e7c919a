"""The model seam and what stands behind it: Bedrock, OpenAI-compatible services, offline, scripted.

May import: aws, language, catalogue, config and what is below them.
Entrance: `protocol.Model`.
"""
