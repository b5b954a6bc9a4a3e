/**
 * Finds changes between two OpenAPI documents that break existing clients. The new document must accept all old
 * requests, and its answers must keep all old fields. It may add operations, optional request fields, answer fields and
 * error codes.
 */

/** @returns one line for each breaking change; empty when every client of the old document works with the new one */
export function breakingChanges(before, after) {
  const problems = [];
  for (const [path, operations] of Object.entries(before.paths)) {
    for (const method of methodsOf(operations)) {
      const name = `${method.toUpperCase()} ${path}`;
      const now = after.paths[path]?.[method];
      if (now === undefined) problems.push(`${name}: is gone`);
      else
        compareOperations(operations[method], now, {
          before,
          after,
          report: (text) => problems.push(`${name}: ${text}`),
        });
    }
  }
  return problems;
}

const methodsOf = (operations) =>
  Object.keys(operations).filter((key) => ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'].includes(key));

function compareOperations(old, now, world) {
  const { report } = world;
  // Generated clients name their methods after the operationId.
  if (old.operationId !== now.operationId) report(`operationId ${old.operationId} became ${now.operationId}`);
  compareSecurity(old.security ?? world.before.security ?? [], now.security ?? world.after.security ?? [], report);
  compareParameters(old.parameters ?? [], now.parameters ?? [], world);
  compareBodies(old.requestBody, now.requestBody, world);
  compareResponses(old.responses, now.responses, world);
}

/** Each old way to authenticate must still work: with the same kind of token, or without a token. */
function compareSecurity(old, now, report) {
  const ways = (list) => (list.length === 0 ? [''] : list.map((way) => Object.keys(way).sort().join('+')));
  const open = ways(now);
  for (const way of ways(old)) {
    if (!open.includes(way) && !open.includes('')) report(way === '' ? 'now needs a token' : `no longer takes ${way}`);
  }
}

function compareParameters(old, now, world) {
  const key = ({ in: place, name }) => `${place} parameter ${name}`;
  for (const parameter of now) {
    const former = old.find((one) => key(one) === key(parameter));
    if (former === undefined && parameter.required) world.report(`${key(parameter)} is new and required`);
    if (former !== undefined && parameter.required && !former.required)
      world.report(`${key(parameter)} became required`);
  }
  for (const parameter of old) {
    const current = now.find((one) => key(one) === key(parameter));
    if (current === undefined) world.report(`${key(parameter)} is gone`);
    else compareSchemas(parameter.schema, current.schema, request(world), key(parameter));
  }
}

function compareBodies(old, now, world) {
  if (now?.required && !old?.required) world.report('the request body became required');
  for (const [type, { schema }] of Object.entries(old?.content ?? {})) {
    const current = now?.content?.[type];
    if (current === undefined) world.report(`no longer takes a body of ${type}`);
    else compareSchemas(schema, current.schema, request(world), 'request');
  }
}

function compareResponses(old, now, world) {
  for (const [status, answer] of Object.entries(old)) {
    const current = now[status];
    if (current === undefined) {
      world.report(`no longer answers ${status}`);
      continue;
    }
    for (const header of Object.keys(answer.headers ?? {})) {
      if (!(header in (current.headers ?? {}))) world.report(`${status} has lost the header ${header}`);
    }
    for (const [type, { schema }] of Object.entries(answer.content ?? {})) {
      const replaced = current.content?.[type];
      if (replaced === undefined) world.report(`${status} is no longer ${type}`);
      else compareAnswers(status, schema, replaced.schema, response(world));
    }
  }
}

/** Compares errors code by code, so that an additional error code does not count as a breaking change. */
function compareAnswers(status, old, now, direction) {
  const codes = codesOf(old, direction.oldSchemas);
  if (codes === undefined) return compareSchemas(old, now, direction, `${status}`);
  const current = codesOf(now, direction.newSchemas) ?? new Map();
  for (const [code, schema] of codes) {
    if (!current.has(code)) direction.report(`no longer answers ${code}`);
    else compareSchemas(schema, current.get(code), direction, `${status} ${code}`);
  }
}

function codesOf(schema, schemas) {
  const alternatives = resolve(schema, schemas).oneOf ?? [schema];
  const codes = alternatives.map((one) => [resolve(one, schemas).properties?.error_code?.enum?.[0], one]);
  return codes.every(([code]) => code !== undefined) ? new Map(codes) : undefined;
}

// Each old request must be valid in the new document. Each new answer must be valid in the old document.
const request = (world) => directed(world, false);
const response = (world) => directed(world, true);

function directed({ before, after, report }, answers) {
  return {
    answers,
    report,
    oldSchemas: before.components?.schemas ?? {},
    newSchemas: after.components?.schemas ?? {},
    seen: new Set(),
  };
}

function compareSchemas(oldSchema, newSchema, direction, place) {
  const key = `${oldSchema.$ref} ${newSchema.$ref}`;
  if (oldSchema.$ref && newSchema.$ref) {
    if (direction.seen.has(key)) return;
    direction.seen = new Set(direction.seen).add(key);
  }
  const old = resolve(oldSchema, direction.oldSchemas);
  const now = resolve(newSchema, direction.newSchemas);
  const [narrow, wide] = direction.answers ? [now, old] : [old, now];
  compareTypes(narrow, wide, direction, place);
  compareValues(narrow, wide, direction, place);
  compareLimits(narrow, wide, direction, place);
  compareProperties(old, now, direction, place);
  if (old.items && now.items) compareSchemas(old.items, now.items, direction, `${place}[]`);
  if (isObject(old.additionalProperties) && isObject(now.additionalProperties)) {
    compareSchemas(old.additionalProperties, now.additionalProperties, direction, `${place}.*`);
  }
  compareAlternatives(old, now, direction, place);
}

function compareTypes(narrow, wide, direction, place) {
  const allowed = typesOf(wide);
  if (allowed === undefined) return;
  const covers = (type) => allowed.includes(type) || (type === 'integer' && allowed.includes('number'));
  const types = typesOf(narrow);
  const extra = types === undefined ? ['anything'] : types.filter((type) => !covers(type));
  if (extra.length === 0) return;
  direction.report(`${place} ${direction.answers ? 'may now be' : 'may no longer be'} ${extra.join(' or ')}`);
}

function compareValues(narrow, wide, direction, place) {
  const allowed = valuesOf(wide);
  if (allowed === undefined) return;
  const extra = valuesOf(narrow)
    ?.filter((value) => !allowed.includes(value))
    .map((value) => JSON.stringify(value));
  if (extra?.length === 0) return;
  const values = extra?.join(', ') ?? 'other values';
  direction.report(`${place} ${direction.answers ? 'may now be' : 'may no longer be'} ${values}`);
}

/** A constant is an enumeration of one. */
const valuesOf = (schema) => ('const' in schema ? [schema.const] : schema.enum);

function compareLimits(narrow, wide, direction, place) {
  const tighter = (limit, isTighter) => {
    if (wide[limit] === undefined) return;
    if (narrow[limit] !== undefined && !isTighter(wide[limit], narrow[limit])) return;
    direction.report(`${place} ${limit} went from ${told(direction, narrow, wide, limit)}`);
  };
  for (const limit of ['minLength', 'minimum', 'minItems']) tighter(limit, (required, given) => required > given);
  for (const limit of ['maxLength', 'maximum', 'maxItems']) tighter(limit, (required, given) => required < given);
  for (const limit of ['pattern', 'format']) tighter(limit, (required, given) => required !== given);
}

function told({ answers }, narrow, wide, limit) {
  const [old, now] = answers ? [wide, narrow] : [narrow, wide];
  return `${old[limit] ?? 'none'} to ${now[limit] ?? 'none'}`;
}

function compareProperties(old, now, direction, place) {
  const [required, requiredNow] = [old.required ?? [], now.required ?? []];
  for (const [name, schema] of Object.entries(old.properties ?? {})) {
    const current = now.properties?.[name];
    if (current === undefined) direction.report(`${place}.${name} is gone`);
    else compareSchemas(schema, current, direction, `${place}.${name}`);
  }
  if (direction.answers) {
    for (const name of required) {
      if (!requiredNow.includes(name) && now.properties?.[name]) direction.report(`${place}.${name} may now be absent`);
    }
    return;
  }
  for (const name of requiredNow) {
    if (required.includes(name)) continue;
    direction.report(`${place}.${name} ${old.properties?.[name] ? 'became required' : 'is new and required'}`);
  }
}

/** Each old alternative of a request must fit a new one, and each new alternative of an answer an old one. */
function compareAlternatives(old, now, direction, place) {
  if (!old.oneOf && !now.oneOf) return;
  const fits = (oldOne, newOne) => {
    let whole = true;
    compareSchemas(oldOne, newOne, { ...direction, report: () => (whole = false) }, place);
    return whole;
  };
  const [olds, news] = [old.oneOf ?? [old], now.oneOf ?? [now]];
  const missing = direction.answers
    ? news.filter((one) => !olds.some((other) => fits(other, one)))
    : olds.filter((one) => !news.some((other) => fits(one, other)));
  if (missing.length > 0) direction.report(`${place} ${direction.answers ? 'has a new' : 'has lost an'} alternative`);
}

const isObject = (value) => typeof value === 'object' && value !== null;

function typesOf({ type, oneOf, properties }) {
  if (type !== undefined) return [type].flat();
  return oneOf === undefined && properties !== undefined ? ['object'] : undefined;
}

/** Resolves a `$ref`, and merges the `allOf` that the generator writes around a `$ref`. */
function resolve(schema, schemas) {
  if (schema.$ref !== undefined) return resolve(schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)], schemas);
  if (schema.allOf === undefined) return schema;
  const parts = schema.allOf.map((part) => resolve(part, schemas));
  return {
    ...Object.assign({}, ...parts),
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  };
}
