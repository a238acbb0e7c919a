"""The model seam (`protocol`) and what stands behind it."""
