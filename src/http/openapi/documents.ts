import type { GroupVersion, GroupVersionKind } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import { registeredVersions } from "../../api/scheme/registered-versions.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { type CatalogGroup, groupVersionsOf } from "../../registry/catalog.ts";
import type { ServedTypes } from "../discovery/served-types.ts";
import { Definitions, type KindsByType } from "./definitions.ts";
import { generalOperations, groupOperation, resourcesOperation } from "./discovery-operations.ts";
import type { DocumentPart } from "./document-part.ts";
import type { Operation, QueryParameter, TypeLookup } from "./operation.ts";
import { operationsOf } from "./operations.ts";
import type { RemoteDocuments } from "./remote-documents.ts";
import { packageOf } from "./schema-name.ts";
import { SharedParameters } from "./shared-parameters.ts";

export interface OpenApiSource {
  readonly catalog: ServedTypes;
  readonly typeOf: TypeLookup;
  /** Version of the API, such as `v1.36.0`. */
  readonly version: string;
  /** Whether applies may be sent as CBOR; false by default. */
  readonly cbor?: boolean;
  /** Documents of extension servers. */
  readonly remote?: RemoteDocuments;
}

const responseTypes = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const listTypes = [
  ...responseTypes,
  "application/json;stream=watch",
  "application/vnd.kubernetes.protobuf;stream=watch",
];
const customTypes = ["application/json", "application/yaml"];
/** kubectl computes a three-way strategic patch only for kinds whose PATCH accepts one. */
const strategicMergePatch = "application/strategic-merge-patch+json";
const patchTypes = [
  "application/json-patch+json",
  "application/merge-patch+json",
  strategicMergePatch,
  "application/apply-patch+yaml",
];
const pretty: QueryParameter = {
  name: "pretty",
  type: "string",
  description: "Set to true to get an indented answer.",
};

const core: GroupVersion = { group: "", version: "v1" };

/** Returns the OpenAPI 3.0 document of one group version. */
export function* openApiV3Parts(
  source: OpenApiSource,
  groupVersion: GroupVersion,
  resources: readonly ResourceInfo[],
): Generator<DocumentPart | undefined> {
  const kinds = kindsByType(
    [...resources, ...builtInResources(source.catalog)],
    hasBuiltIn(resources) ? [core, groupVersion] : [core],
  );
  const operations = resources.map((info) => () => operationsOf(info, source.typeOf));
  if (hasBuiltIn(resources)) operations.push(() => [resourcesOperation(groupVersion, source.typeOf)]);
  yield* v3Parts(source, operations, kinds);
}

/** Returns the OpenAPI 3.0 document of paths that do not concern objects. */
export function generalV3Parts(source: OpenApiSource, operation: Operation): Generator<DocumentPart | undefined> {
  return v3Parts(source, [() => [operation]], kindsByType([], [core]));
}

/** Returns the operations outside of group versions, by the key of their document. */
export function generalOperationsOf({ catalog, typeOf }: OpenApiSource): ReadonlyMap<string, Operation> {
  const groups = builtInGroups(catalog).filter(({ group }) => group !== "");
  return new Map([
    ...generalOperations(typeOf),
    ...groups.map(({ group }) => [`apis/${group}`, groupOperation(group, typeOf)] as const),
  ]);
}

/** Custom kinds come and go, but a change affects only documents of its own group. */
function hasBuiltIn(resources: readonly ResourceInfo[]): boolean {
  return resources.some(({ form }) => form.kind === "struct");
}

function builtInGroups(catalog: ServedTypes): CatalogGroup[] {
  return catalog.groups().flatMap(({ group, versions }) => {
    const builtIn = versions.filter((version) => hasBuiltIn(catalog.resources({ group, version })));
    return builtIn.length === 0 ? [] : [{ group, versions: builtIn }];
  });
}

/** Documents of a group also define kinds of other groups that its objects contain. */
function builtInResources(catalog: ServedTypes): ResourceInfo[] {
  return builtInGroups(catalog).flatMap(({ group, versions }) =>
    versions.flatMap((version) => catalog.resources({ group, version })),
  );
}

function* v3Parts(
  source: OpenApiSource,
  operations: OperationLists,
  kinds: KindsByType,
): Generator<DocumentPart | undefined> {
  const definitions = new Definitions("v3", kinds);
  yield { path: ["openapi"], value: "3.0.0" };
  yield { path: ["info"], value: { title: "Kubernetes", version: source.version } };
  yield* pathParts(operations, v3Parameter, (operation) =>
    v3Operation(operation, definitions, patchTypesOf(operation, source)),
  );
  yield* definitions.parts(["components", "schemas"]);
  yield { path: ["components", "securitySchemes"], value: securitySchemes };
}

/** Returns the operations in lists that share no path. Each list is made on demand. */
type OperationLists = readonly (() => readonly Operation[])[];

function* pathParts(
  lists: OperationLists,
  writeParameter: (parameter: Parameter) => JsonObject,
  write: (operation: Operation) => JsonObject,
): Generator<DocumentPart | undefined> {
  for (const list of lists) {
    for (const operations of Map.groupBy(list().map(withPretty), ({ path }) => path).values()) {
      const [first] = operations as [Operation, ...Operation[]];
      const shared = sharedParameters(operations);
      const parameters = [
        ...pathParameters(first),
        ...shared.map((parameter) => ({ ...parameter, in: "query" }) as const),
      ]
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(writeParameter);
      const item: JsonObject = parameters.length === 0 ? {} : { parameters };
      for (const operation of operations) {
        const queryParameters = operation.queryParameters
          .filter((parameter) => !shared.includes(parameter))
          .sort((a, b) => (a.name < b.name ? -1 : 1));
        item[operation.method] = write({ ...operation, queryParameters });
      }
      yield { path: ["paths", first.path], value: item };
    }
  }
}

/** Documents about objects may be asked for indented; connections and discovery have no such form. */
function withPretty(operation: Operation): Operation {
  const { action, queryParameters } = operation;
  if (action === undefined || action === "connect") return operation;
  return { ...operation, queryParameters: [...queryParameters, pretty] };
}

/** Returns the parameters that all operations of a path share, which belong to the path. */
function sharedParameters([first, ...others]: readonly Operation[]): readonly QueryParameter[] {
  if (first === undefined) return [];
  return first.queryParameters.filter((parameter) =>
    others.every(({ queryParameters }) => queryParameters.includes(parameter)),
  );
}

const securitySchemes: JsonObject = {
  BearerToken: {
    type: "apiKey",
    name: "authorization",
    in: "header",
    description: "A bearer token: the word Bearer, followed by the token.",
  },
};

/** Returns the one Swagger 2.0 document of everything that is served. */
export function* openApiV2Parts(source: OpenApiSource): Generator<DocumentPart | undefined> {
  const { catalog, typeOf } = source;
  const resources = groupVersionsOf(catalog).flatMap((groupVersion) => catalog.resources(groupVersion));
  const groups = builtInGroups(catalog);
  const definitions = new Definitions("v2", kindsByType(resources, registeredVersions));
  const shared = new SharedParameters();
  const operations = [
    ...resources.map((info) => () => operationsOf(info, typeOf)),
    ...groups.flatMap(({ group, versions }) =>
      versions.map((version) => () => [resourcesOperation({ group, version }, typeOf)]),
    ),
    ...[...generalOperationsOf(source).values()].map((operation) => () => [operation]),
  ];
  yield { path: ["swagger"], value: "2.0" };
  yield { path: ["info"], value: { title: "Kubernetes", version: source.version } };
  yield* pathParts(
    operations,
    (parameter) => shared.refer(v2Parameter(parameter)),
    (operation) => v2Operation(operation, definitions, shared, patchTypesOf(operation, source)),
  );
  yield* definitions.parts(["definitions"]);
  for (const [name, value] of shared.sorted()) yield { path: ["parameters", name], value };
  yield { path: ["securityDefinitions"], value: securitySchemes };
  yield { path: ["security"], value: [{ BearerToken: [] }] };
}

function patchTypesOf({ isBuiltIn }: Operation, { cbor = false }: OpenApiSource): readonly string[] {
  const types = isBuiltIn ? patchTypes : patchTypes.filter((type) => type !== strategicMergePatch);
  return cbor ? [...types, "application/apply-patch+cbor"] : types;
}

/** Returns the kinds of top-level types, of their lists, and of the options and events of the given versions. */
function kindsByType(resources: readonly ResourceInfo[], versions: readonly GroupVersion[]): KindsByType {
  const kinds = new Map<string, GroupVersionKind[]>();
  const add = (typeName: string, gvk: GroupVersionKind) => {
    const known = kinds.get(typeName) ?? [];
    if (!known.some((other) => sameKind(other, gvk))) known.push(gvk);
    kinds.set(typeName, known);
  };
  for (const info of resources) {
    if (info.form.kind !== "struct") continue;
    const { name } = info.form.schema;
    add(name, info);
    if (info.listKind !== "") add(`${packageOf(name)}.${info.listKind}`, { ...info, kind: info.listKind });
    for (const { form, gvk } of info.subresources.values()) {
      if (form.kind === "struct") add(form.schema.name, gvk);
    }
  }
  for (const groupVersion of versions) {
    for (const kind of ["DeleteOptions", "WatchEvent"]) add(`meta/v1.${kind}`, { ...groupVersion, kind });
  }
  for (const kind of ["APIGroup", "APIGroupList", "APIResourceList", "APIVersions"]) {
    add(`meta/v1.${kind}`, { group: "", version: "v1", kind });
  }
  add("meta/v1.Status", { group: "", version: "v1", kind: "Status" });
  return kinds;
}

function sameKind(a: GroupVersionKind, b: GroupVersionKind): boolean {
  return a.group === b.group && a.version === b.version && a.kind === b.kind;
}

/** Returns a parameter of the path or of the query. */
type Parameter = QueryParameter & { readonly in: "path" | "query" };

/** Returns the parameters that are part of the path. */
function pathParameters({ path, gvk }: Operation): Parameter[] {
  const texts = {
    name: `name of the ${gvk?.kind ?? "object"}`,
    namespace: "namespace of the object",
    path: "path after the proxy",
  };
  return Object.entries(texts).flatMap(([name, description]) =>
    path.includes(`{${name}}`) ? [{ name, description, type: "string", in: "path" } as const] : [],
  );
}

function common({ description, tag, id }: Operation): JsonObject {
  return { description, tags: [tag], operationId: id };
}

function extensions({ action, gvk }: Operation): JsonObject {
  if (action === undefined || gvk === undefined) return {};
  return {
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": { group: gvk.group, version: gvk.version, kind: gvk.kind },
  };
}

/** Creating answers 201, and putting and applying may too; an asynchronous deletion answers 202. */
function successCodes({ action }: Operation): [string, string][] {
  if (action === "post") {
    return [
      ["200", "OK"],
      ["201", "Created"],
      ["202", "Accepted"],
    ];
  }
  if (action === "put" || action === "patch") {
    return [
      ["200", "OK"],
      ["201", "Created"],
    ];
  }
  if (action === "delete") {
    return [
      ["200", "OK"],
      ["202", "Accepted"],
    ];
  }
  return [["200", "OK"]];
}

const collectionActions: ReadonlySet<Operation["action"]> = new Set(["list", "watch", "watchlist"]);

function answerTypes({ action, isBuiltIn, produces }: Operation): readonly string[] {
  if (produces !== undefined) return produces;
  if (!isBuiltIn) return customTypes;
  return collectionActions.has(action) ? listTypes : responseTypes;
}

function schemaOf({ response }: Operation, definitions: Definitions): JsonObject {
  if (response === "text") return { type: "string" };
  return response === "version" ? definitions.versionReference() : definitions.reference(response);
}

function v3Operation(operation: Operation, definitions: Definitions, patches: readonly string[]): JsonObject {
  const content = contentOf(answerTypes(operation), schemaOf(operation, definitions));
  const codes = successCodes(operation).map(([code, description]) => [code, { description, content }] as const);
  const parameters = operation.queryParameters.map((parameter) => v3Parameter({ ...parameter, in: "query" }));
  return {
    ...common(operation),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...v3Body(operation, definitions, patches),
    responses: { ...Object.fromEntries(codes), "401": { description: "Unauthorized" } },
    ...extensions(operation),
  };
}

function v3Body({ body, action }: Operation, definitions: Definitions, patches: readonly string[]): JsonObject {
  if (body === undefined) return {};
  if (body === "patch") {
    return { requestBody: { content: contentOf(patches, definitions.patchReference()), required: true } };
  }
  const required = action === "post" || action === "put";
  const content = contentOf(["*/*"], definitions.reference(body));
  return { requestBody: { content, ...(required ? { required } : {}) } };
}

function contentOf(types: readonly string[], schema: JsonObject): JsonObject {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

function v3Parameter({ name, in: place, description, type }: Parameter): JsonObject {
  const required = place === "path" ? { required: true } : {};
  return { name, in: place, description, ...required, schema: { type, uniqueItems: true } };
}

function v2Operation(
  operation: Operation,
  definitions: Definitions,
  shared: SharedParameters,
  patches: readonly string[],
): JsonObject {
  const schema = schemaOf(operation, definitions);
  const codes = successCodes(operation).map(([code, description]) => [code, { description, schema }] as const);
  const query = operation.queryParameters.map((parameter) => v2Parameter({ ...parameter, in: "query" }));
  const body = v2Body(operation, definitions);
  const parameters = (body === undefined ? query : [body, ...query]).map((one) => shared.refer(one));
  return {
    ...common(operation),
    ...v2Consumes(operation, patches),
    produces: [...answerTypes(operation)],
    schemes: ["https"],
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: { ...Object.fromEntries(codes), "401": { description: "Unauthorized" } },
    ...extensions(operation),
  };
}

function v2Body({ body, action }: Operation, definitions: Definitions): JsonObject | undefined {
  if (body === undefined) return undefined;
  const schema = body === "patch" ? definitions.patchReference() : definitions.reference(body);
  const required = action === "post" || action === "put" || action === "patch";
  return { name: "body", in: "body", ...(required ? { required } : {}), schema };
}

/** Returns the media types of the request. For discovery and the version, upstream lists those of the answer. */
function v2Consumes({ action, body, produces, response }: Operation, patches: readonly string[]): JsonObject {
  if (action === undefined) return response === "text" ? {} : { consumes: [...(produces ?? responseTypes)] };
  return { consumes: body === "patch" ? [...patches] : ["*/*"] };
}

function v2Parameter({ name, in: place, description, type }: Parameter): JsonObject {
  const required = place === "path" ? { required: true } : {};
  return { name, in: place, description, ...required, type, uniqueItems: true };
}
