"""The model seam and what stands behind it: Bedrock, OpenAI-compatible services, offline, scripted.

May import: language, aws, catalogue, errors, base.
Entrance: `protocol.Model`.
"""
