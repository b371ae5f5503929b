"""The simulated Shopify Admin GraphQL API: schema, documents, answers. Knows nothing of HTTP."""
