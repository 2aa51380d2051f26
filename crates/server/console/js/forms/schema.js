// Decides which kind of form field a JSON Schema needs; `json` is the fallback.

import { valueText } from "../ui/format.js";

/** Limit of references that are followed: they may be circular. */
const MAX_REFS = 16;

/**
 * Returns the schema with its `$ref` and its single `allOf` resolved.
 * @param {any} schema
 * @param {any} root
 */
function resolve(schema, root) {
  let current = schema;
  for (let steps = 0; steps < MAX_REFS && typeof current?.$ref === "string"; steps += 1) {
    const { $ref, ...rest } = current;
    current = { ...resolvePointer(root, $ref), ...rest };
  }
  if (Array.isArray(current?.allOf) && current.allOf.length === 1) {
    const { allOf, ...rest } = current;
    current = { ...resolve(allOf[0], root), ...rest };
  }
  return current && typeof current === "object" ? current : {};
}

function resolvePointer(root, reference) {
  if (!reference.startsWith("#")) return {};
  const path = reference.slice(1).split("/").slice(1);
  const unescape = (key) => decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~");
  return (
    path.reduce(
      (current, key) => (current && Object.hasOwn(current, unescape(key)) ? current[unescape(key)] : {}),
      root,
    ) ?? {}
  );
}

const isNull = (schema) => schema.type === "null" || schema.const === null;
const isConstant = (schema) =>
  Object.hasOwn(schema, "const") || (Array.isArray(schema.enum) && schema.enum.length === 1);
const constantOf = (schema) => (Object.hasOwn(schema, "const") ? schema.const : schema.enum[0]);

/**
 * Returns the kind of field, and the resolved schema.
 * @param {any} original
 * @param {any} root
 * @returns {{kind: string, schema: any, nullable: boolean, options?: {value: any, label: string, description?: string}[],
 *   variants?: any[]}}
 */
export function classify(original, root) {
  const schema = resolve(original, root);
  const variants = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(variants)) return classifyVariants(schema, variants, root);
  if (Object.hasOwn(schema, "const")) return { kind: "const", schema, nullable: false };
  if (Array.isArray(schema.enum)) {
    const options = schema.enum.filter((value) => value !== null).map((value) => ({ value, label: valueText(value) }));
    return { kind: "enum", schema, nullable: schema.enum.includes(null), options };
  }
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== "null");
    const nullable = types.length < schema.type.length;
    if (types.length === 1) return { ...classify({ ...schema, type: types[0] }, root), nullable };
    return { kind: "json", schema, nullable };
  }
  return { kind: classifyType(schema), schema, nullable: false };
}

function classifyVariants(schema, given, root) {
  const { oneOf, anyOf, ...rest } = schema;
  const resolved = given.map((variant) => resolve(variant, root));
  const variants = resolved.filter((variant) => !isNull(variant));
  const nullable = variants.length < resolved.length;
  if (variants.length === 1) return { ...classify({ ...variants[0], ...rest }, root), nullable };
  if (variants.every(isConstant)) {
    const option = (variant) => ({
      value: constantOf(variant),
      label: variant.title ?? valueText(constantOf(variant)),
      description: variant.description,
    });
    return { kind: "enum", schema: rest, nullable, options: variants.map(option) };
  }
  // Properties beside the variants would have to be merged into each of them.
  if (rest.properties) return { kind: "json", schema, nullable };
  return { kind: "choice", schema: rest, nullable, variants };
}

function classifyType(schema) {
  const { type } = schema;
  if (type === "object" || (type === undefined && schema.properties)) {
    if (Object.keys(schema.properties ?? {}).length) return "object";
    const rest = schema.additionalProperties;
    if (rest === false) return "object";
    return rest && typeof rest === "object" ? "map" : type === "object" ? "json" : "object";
  }
  if (type === "array") return schema.items && !schema.prefixItems ? "array" : "json";
  return ["string", "number", "integer", "boolean"].includes(type) ? type : "json";
}

/** Returns a label that distinguishes a variant from the others. */
export function variantName(variant, index, root) {
  if (variant.title) return variant.title;
  for (const [key, property] of Object.entries(variant.properties ?? {})) {
    const resolved = resolve(property, root);
    if (isConstant(resolved)) return `${key}: ${valueText(constantOf(resolved))}`;
  }
  const [only, ...others] = variant.required ?? [];
  if (only && !others.length) return only;
  return typeof variant.type === "string" ? variant.type : `Form ${index + 1}`;
}

/** Returns true if a value roughly matches a schema; used to select the variant of an existing value. */
export function couldMatch(value, schema, root) {
  const { kind, schema: own, options, nullable } = classify(schema, root);
  if (value === null) return nullable;
  if (kind === "const") return value === own.const;
  if (kind === "enum") return options.some((option) => option.value === value);
  if (kind === "object" || kind === "map") {
    if (typeof value !== "object" || Array.isArray(value)) return false;
    const properties = Object.entries(own.properties ?? {});
    const hasRequired = (own.required ?? []).every((key) => Object.hasOwn(value, key));
    return (
      hasRequired &&
      properties.every(([key, property]) => !Object.hasOwn(value, key) || couldMatch(value[key], property, root))
    );
  }
  if (kind === "array") return Array.isArray(value);
  if (kind === "integer") return Number.isInteger(value);
  return kind === "json" || kind === "choice" || typeof value === kind;
}
