"""Operations of the site's services as actions, from their OpenAPI files (3.0 and 3.1)."""
