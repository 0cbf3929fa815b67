"""The rows of the orders tables, as Spark's expressions of id."""
COLUMNS = "id bigint, customer string, amount double, tax decimal(12,2), ts timestamp, status string, quantity int, note string"
EXPRESSIONS = ["id", "concat('customer-', pmod(hash(id), 100000)) customer", "pmod(hash(id, 1), 1000000)/100.0D amount",
               "cast(pmod(hash(id, 2), 100000) as decimal(12,2)) tax", "timestamp_seconds(1700000000 + id) ts",
               "element_at(array('new','paid','sent','done'), 1 + cast(id % 4 as int)) status", "pmod(hash(id, 3), 1000) quantity",
               "concat(hex(hash(id,4)), hex(hash(id,5))) note"]
