#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Validate JSON against a JSON Schema: json_schema.py SCHEMA FILE...; of files *.jsonl each line by itself.

Of JSON Schema it knows what our schemas use, and refuses one that uses anything else.  Where the package
python3-jsonschema is installed, that has to agree.
"""
import json
import re
import sys

try:
    import jsonschema
except ImportError:
    jsonschema = None

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "properties", "required", "additionalProperties", "items",
         "oneOf", "anyOf", "const", "enum", "minimum", "maximum", "minProperties", "maxProperties", "pattern", "default",
         "minItems", "maxItems", "prefixItems"}


def is_a(value, name):
    if name in ("integer", "number"):
        return isinstance(value, (int, float) if name == "number" else int) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def faults(value, schema, root, at="$"):
    if schema is True or schema is False:
        if not schema:
            yield f"{at}: not allowed"
        return
    if set(schema) - KNOWN:
        raise SystemExit(f"json_schema.py: unknown keywords {set(schema) - KNOWN}")
    if "$ref" in schema:
        yield from faults(value, root["$defs"][schema["$ref"].split("/")[-1]], root, at)
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(is_a(value, name) for name in names):
            yield f"{at}: {json.dumps(value)[:60]}: expected {' or '.join(names)}"
            return
    if "const" in schema and (value != schema["const"] or type(value) is not type(schema["const"])):
        yield f"{at}: expected {schema['const']}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value}: expected one of {schema['enum']}"
    if is_a(value, "number"):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            yield f"{at}: {value}: out of range"
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{at}: {value}: expected {schema['pattern']}"
    for word in ("oneOf", "anyOf"):
        if word in schema:
            fitting = sum(not any(True for _ in faults(value, one, root, at)) for one in schema[word])
            if not fitting or (word == "oneOf" and fitting > 1):
                yield f"{at}: fits {fitting} of {word}: " + "; ".join(f for one in schema[word] for f in faults(value, one, root, at))
    if isinstance(value, dict):
        if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
            yield f"{at}: {len(value)} properties"
        for key in schema.get("required", []):
            if key not in value:
                yield f"{at}.{key}: missing"
        for key, one in value.items():
            yield from faults(one, schema.get("properties", {}).get(key, schema.get("additionalProperties", True)), root, f"{at}.{key}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{at}: {len(value)} items"
        for i, one in enumerate(value):
            heads = schema.get("prefixItems", [])
            yield from faults(one, heads[i] if i < len(heads) else schema.get("items", True), root, f"{at}[{i}]")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    bad = 0
    if jsonschema and hasattr(jsonschema, "Draft202012Validator"):
        jsonschema.Draft202012Validator.check_schema(schema)
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as file:
            documents = [json.loads(line) for line in file] if name.endswith(".jsonl") else [json.load(file)]
        for number, document in enumerate(documents, 1):
            found = list(faults(document, schema, schema))
            if jsonschema and hasattr(jsonschema, "Draft202012Validator"):
                theirs = jsonschema.Draft202012Validator(schema).is_valid(document)
                assert theirs == (not found), f"{name}:{number}: jsonschema says {theirs}, we {found}"
            for fault in found[:5]:
                print(f"{name}:{number}: {fault}")
            bad += bool(found)
    sys.exit(bad > 0)


main()
