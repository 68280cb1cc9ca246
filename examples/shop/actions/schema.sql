-- What the shop knows. Amounts are decimal text in dollars, percentages whole numbers or decimal
-- text, times ISO 8601 in UTC, times of day those of the store's clock.

CREATE TABLE IF NOT EXISTS rules (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS stores (
    name TEXT PRIMARY KEY,
    telephone TEXT NOT NULL,
    timezone TEXT NOT NULL, -- IANA
    sales_tax TEXT NOT NULL -- percent
) STRICT;

CREATE TABLE IF NOT EXISTS opening_hours (
    store TEXT NOT NULL REFERENCES stores,
    weekday INTEGER NOT NULL CHECK (weekday BETWEEN 0 AND 6), -- Monday is 0
    opens TEXT NOT NULL,
    closes TEXT NOT NULL,
    PRIMARY KEY (store, weekday)
) STRICT;

-- A day of a month, or the nth of a weekday in it; -1 is the last.
CREATE TABLE IF NOT EXISTS holidays (
    name TEXT PRIMARY KEY,
    month INTEGER NOT NULL,
    day INTEGER,
    weekday INTEGER,
    nth INTEGER,
    hours TEXT NOT NULL, -- 'closed', 'sunday' for those of a Sunday, or when they close early
    CHECK ((day IS NULL) = (weekday IS NOT NULL) AND (weekday IS NULL) = (nth IS NULL))
) STRICT;

CREATE TABLE IF NOT EXISTS products (
    sku TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    price TEXT NOT NULL,
    kind TEXT NOT NULL, -- decides what may come back: see return_terms
    page TEXT -- of the site; NULL where it has none
) STRICT;

-- What there is of a product in several colors or sizes. Their numbers begin with the product's.
CREATE TABLE IF NOT EXISTS variants (
    sku TEXT PRIMARY KEY,
    product TEXT NOT NULL REFERENCES products,
    color TEXT NOT NULL,
    size TEXT, -- NULL where there is one
    image TEXT
) STRICT;

-- All that has a number under which it can be ordered.
CREATE VIEW IF NOT EXISTS articles AS
    SELECT sku, title, price, kind, page, sku AS product FROM products
    UNION ALL
    SELECT
        variants.sku,
        title || ', ' || color || iif(size IS NULL, '', ', ' || size),
        price, kind, page, product
    FROM variants JOIN products ON products.sku = product;

-- Of a product that comes in variants the row of its own number counts all of them.
CREATE TABLE IF NOT EXISTS stock (
    sku TEXT NOT NULL, -- of an article
    store TEXT NOT NULL, -- or 'warehouse', from which everything is sent
    count INTEGER NOT NULL CHECK (count >= 0),
    PRIMARY KEY (sku, store)
) STRICT;

-- Where parcels go.
CREATE TABLE IF NOT EXISTS states (
    code TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    zone TEXT NOT NULL CHECK (zone IN ('lower 48', 'far')),
    sales_tax TEXT NOT NULL -- percent
) STRICT;

CREATE TABLE IF NOT EXISTS shipping_rates (
    zone TEXT NOT NULL,
    service TEXT NOT NULL,
    price TEXT NOT NULL,
    PRIMARY KEY (zone, service)
) STRICT;

-- The highest that applies counts, alone.
CREATE TABLE IF NOT EXISTS discounts (
    customer_type TEXT, -- NULL for every customer
    from_quantity INTEGER NOT NULL, -- of one item
    percent INTEGER NOT NULL CHECK (percent BETWEEN 1 AND 99),
    on_sale_items INTEGER NOT NULL CHECK (on_sale_items IN (0, 1))
) STRICT;

-- What is not here does not come back.
CREATE TABLE IF NOT EXISTS return_terms (
    kind TEXT NOT NULL,
    condition TEXT NOT NULL CHECK (condition IN ('unused', 'used')),
    days INTEGER NOT NULL,
    paid_as TEXT NOT NULL CHECK (paid_as IN ('refund', 'store_credit')),
    PRIMARY KEY (kind, condition)
) STRICT;

CREATE TABLE IF NOT EXISTS orders (
    id TEXT PRIMARY KEY,
    call_id TEXT UNIQUE, -- of the call that placed it; NULL where a person did
    caller TEXT, -- who called; NULL likewise
    email TEXT NOT NULL,
    store TEXT REFERENCES stores, -- where it is collected; NULL where it is sent
    state TEXT NOT NULL CHECK (state IN ('placed', 'packed', 'collected', 'cancelled')),
    placed_at TEXT NOT NULL,
    collected_at TEXT CHECK ((collected_at IS NOT NULL) = (state = 'collected')),
    cancelled_by TEXT -- the call that cancelled it
) STRICT;

CREATE TABLE IF NOT EXISTS parcels (
    order_id TEXT PRIMARY KEY REFERENCES orders,
    name TEXT NOT NULL,
    street TEXT NOT NULL,
    extra TEXT NOT NULL,
    city TEXT NOT NULL,
    state TEXT NOT NULL REFERENCES states,
    postal_code TEXT NOT NULL,
    service TEXT NOT NULL,
    price TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS order_lines (
    order_id TEXT NOT NULL REFERENCES orders,
    sku TEXT NOT NULL, -- of an article
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    unit_price TEXT NOT NULL,
    discount_percent INTEGER NOT NULL,
    amount TEXT NOT NULL,
    sales_tax TEXT NOT NULL,
    PRIMARY KEY (order_id, sku)
) STRICT;

CREATE TABLE IF NOT EXISTS returns (
    id INTEGER PRIMARY KEY,
    call_id TEXT NOT NULL UNIQUE,
    order_id TEXT NOT NULL REFERENCES orders,
    sku TEXT NOT NULL, -- of an article
    amount TEXT NOT NULL,
    paid_as TEXT NOT NULL,
    UNIQUE (order_id, sku)
) STRICT;

CREATE TABLE IF NOT EXISTS visits (
    id INTEGER PRIMARY KEY,
    call_id TEXT NOT NULL UNIQUE,
    store TEXT NOT NULL REFERENCES stores,
    day TEXT NOT NULL,
    starts TEXT NOT NULL,
    email TEXT NOT NULL
) STRICT;
