// What kind of field a JSON Schema asks for. Whatever has no field of its own is written as JSON.

/** References are followed so far: a schema that contains itself ends in JSON. */
const FARTHEST = 16;

/**
 * The schema with its references to itself followed.
 * @param {any} schema
 * @param {any} root
 */
export function resolve(schema, root) {
  let at = schema;
  for (let steps = 0; steps < FARTHEST && typeof at?.$ref === "string"; steps += 1) {
    const { $ref, ...beside } = at;
    at = { ...pointed(root, $ref), ...beside };
  }
  if (Array.isArray(at?.allOf) && at.allOf.length === 1) {
    const { allOf, ...beside } = at;
    at = { ...resolve(allOf[0], root), ...beside };
  }
  return at && typeof at === "object" ? at : {};
}

function pointed(root, reference) {
  if (!reference.startsWith("#")) return {};
  const path = reference.slice(1).split("/").slice(1);
  const unescape = (key) => decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~");
  return path.reduce((at, key) => (at && Object.hasOwn(at, unescape(key)) ? at[unescape(key)] : {}), root) ?? {};
}

const isNull = (schema) => schema.type === "null" || schema.const === null;
const isFixed = (schema) => Object.hasOwn(schema, "const") || (Array.isArray(schema.enum) && schema.enum.length === 1);
const fixed = (schema) => (Object.hasOwn(schema, "const") ? schema.const : schema.enum[0]);

/**
 * The kind of field, and the schema it is for.
 * @param {any} given
 * @param {any} root
 * @returns {{kind: string, schema: any, nullable: boolean, options?: {value: any, label: string, about?: string}[],
 *   variants?: any[]}}
 */
export function classify(given, root) {
  const schema = resolve(given, root);
  const variants = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(variants)) return choice(schema, variants, root);
  if (Object.hasOwn(schema, "const")) return { kind: "const", schema, nullable: false };
  if (Array.isArray(schema.enum)) {
    const options = schema.enum.filter((value) => value !== null).map((value) => ({ value, label: shown(value) }));
    return { kind: "enum", schema, nullable: schema.enum.includes(null), options };
  }
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== "null");
    const nullable = types.length < schema.type.length;
    if (types.length === 1) return { ...classify({ ...schema, type: types[0] }, root), nullable };
    return { kind: "json", schema, nullable };
  }
  return { kind: plain(schema), schema, nullable: false };
}

function choice(schema, given, root) {
  const { oneOf, anyOf, ...beside } = schema;
  const resolved = given.map((variant) => resolve(variant, root));
  const variants = resolved.filter((variant) => !isNull(variant));
  const nullable = variants.length < resolved.length;
  if (variants.length === 1) return { ...classify({ ...variants[0], ...beside }, root), nullable };
  if (variants.every(isFixed)) {
    const option = (variant) => ({
      value: fixed(variant),
      label: variant.title ?? shown(fixed(variant)),
      about: variant.description,
    });
    return { kind: "enum", schema: beside, nullable, options: variants.map(option) };
  }
  // Parts beside the choice would have to be merged into each of its forms.
  if (beside.properties) return { kind: "json", schema, nullable };
  return { kind: "choice", schema: beside, nullable, variants };
}

function plain(schema) {
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

/** What tells one form of a choice from the others. */
export function variantName(variant, index, root) {
  if (variant.title) return variant.title;
  for (const [key, property] of Object.entries(variant.properties ?? {})) {
    const resolved = resolve(property, root);
    if (isFixed(resolved)) return `${key}: ${shown(fixed(resolved))}`;
  }
  const [only, ...others] = variant.required ?? [];
  if (only && !others.length) return only;
  return typeof variant.type === "string" ? variant.type : `Form ${index + 1}`;
}

/** Whether a value could be meant for a schema: enough to choose among forms. */
export function fits(value, schema, root) {
  const { kind, schema: own, options, nullable } = classify(schema, root);
  if (value === null) return nullable;
  if (kind === "const") return value === own.const;
  if (kind === "enum") return options.some((option) => option.value === value);
  if (kind === "object" || kind === "map") {
    if (typeof value !== "object" || Array.isArray(value)) return false;
    const named = Object.entries(own.properties ?? {});
    const needed = (own.required ?? []).every((key) => Object.hasOwn(value, key));
    return needed && named.every(([key, property]) => !Object.hasOwn(value, key) || fits(value[key], property, root));
  }
  if (kind === "array") return Array.isArray(value);
  if (kind === "integer") return Number.isInteger(value);
  return kind === "json" || kind === "choice" || typeof value === kind;
}

/** A value in a few characters. */
export function shown(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}
