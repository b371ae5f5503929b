"""Shopify's Admin GraphQL API."""
