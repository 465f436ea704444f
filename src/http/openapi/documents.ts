import type { GroupVersion, GroupVersionKind } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import { structOf } from "../../api/scheme/object-form.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import type { CatalogGroup } from "../../registry/catalog.ts";
import type { ServedTypes } from "../discovery/served-types.ts";
import { Definitions, type KindsByType } from "./definitions.ts";
import { generalOperations, groupOperation, resourcesOperation } from "./discovery-operations.ts";
import { groupVersionsOf } from "./document-key.ts";
import type { Operation, QueryParameter, TypeLookup } from "./operation.ts";
import { operationsOf } from "./operations.ts";
import { packageOf } from "./schema-name.ts";

export interface OpenApiSource {
  readonly catalog: ServedTypes;
  readonly typeOf: TypeLookup;
  /** Of the API, as `v1.36.0`. */
  readonly version: string;
}

const responseTypes = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const listTypes = [
  ...responseTypes,
  "application/json;stream=watch",
  "application/vnd.kubernetes.protobuf;stream=watch",
];
/** kubectl computes a three-way strategic patch only for kinds whose PATCH takes one. */
const patchTypes = [
  "application/apply-patch+yaml",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
];
const pretty: QueryParameter = { name: "pretty", type: "string", description: "true: write the answer indented." };

/** The OpenAPI 3.0 document of one group version. */
export function openApiV3Document(source: OpenApiSource, groupVersion: GroupVersion): JsonObject {
  const resources = source.catalog.resources(groupVersion);
  const { group, version } = groupVersion;
  const kinds = kindsByType(resources, [{ group, versions: [version] }]);
  const operations = resources.flatMap((info) => operationsOf(info, source.typeOf));
  return v3Document([...operations, resourcesOperation(groupVersion, source.typeOf)], kinds);
}

/** The OpenAPI 3.0 document of paths that are about no object. */
export function generalV3Document(operation: Operation): JsonObject {
  return v3Document([operation], kindsByType([], []));
}

/** The operations outside of group versions, by the key of their document. */
export function generalOperationsOf({ catalog, typeOf }: OpenApiSource): ReadonlyMap<string, Operation> {
  const groups = catalog.groups().filter(({ group }) => group !== "");
  return new Map([
    ...generalOperations(typeOf),
    ...groups.map(({ group }) => [`apis/${group}`, groupOperation(group, typeOf)] as const),
  ]);
}

function v3Document(operations: readonly Operation[], kinds: KindsByType): JsonObject {
  const definitions = new Definitions("v3", kinds);
  const paths: JsonObject = {};
  for (const operation of operations) {
    const item = pathItem(paths, operation, v3PathParameter);
    item[operation.method] = v3Operation(operation, definitions);
  }
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "unversioned" },
    paths,
    components: { schemas: definitions.toJson(), securitySchemes },
  };
}

const securitySchemes: JsonObject = {
  BearerToken: {
    type: "apiKey",
    name: "authorization",
    in: "header",
    description: "A bearer token: the word Bearer and the token.",
  },
};

/** The one Swagger 2.0 document of everything that is served. */
export function openApiV2Document(source: OpenApiSource): JsonObject {
  const resources = source.catalog
    .groups()
    .flatMap(({ group, versions }) => versions.flatMap((version) => source.catalog.resources({ group, version })));
  const groups = source.catalog.groups();
  const definitions = new Definitions("v2", kindsByType(resources, groups));
  const paths: JsonObject = {};
  const operations = [
    ...resources.flatMap((info) => operationsOf(info, source.typeOf)),
    ...groupVersionsOf(source.catalog).map((each) => resourcesOperation(each, source.typeOf)),
    ...generalOperationsOf(source).values(),
  ];
  for (const operation of operations) {
    const item = pathItem(paths, operation, v2PathParameter);
    item[operation.method] = v2Operation(operation, definitions);
  }
  return {
    swagger: "2.0",
    info: { title: "Kubernetes", version: source.version },
    paths,
    definitions: definitions.toJson(),
    securityDefinitions: securitySchemes,
    security: [{ BearerToken: [] }],
  };
}

/** Top-level types, their lists, and the options that every group version has. */
function kindsByType(resources: readonly ResourceInfo[], groups: readonly CatalogGroup[]): KindsByType {
  const kinds = new Map<string, GroupVersionKind[]>();
  const add = (typeName: string, gvk: GroupVersionKind) => {
    const known = kinds.get(typeName) ?? [];
    if (!known.some((other) => sameKind(other, gvk))) known.push(gvk);
    kinds.set(typeName, known);
  };
  for (const info of resources) {
    const { name } = structOf(info);
    add(name, info);
    if (info.listKind !== "") add(`${packageOf(name)}.${info.listKind}`, { ...info, kind: info.listKind });
    for (const { form, gvk } of info.subresources.values()) add(structOf({ form }).name, gvk);
  }
  const core = { group: "", versions: ["v1"] };
  for (const { group, versions } of [core, ...groups]) {
    for (const version of versions) {
      for (const kind of ["DeleteOptions", "WatchEvent"]) add(`meta/v1.${kind}`, { group, version, kind });
    }
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

/** The item of a path with the parameters that are part of the path; made when it is not there yet. */
function pathItem(
  paths: JsonObject,
  { path, gvk }: Operation,
  pathParameter: (name: string, description: string) => JsonObject,
): JsonObject {
  const known = paths[path] as JsonObject | undefined;
  if (known !== undefined) return known;
  const parameters: JsonObject[] = [];
  if (path.includes("{name}")) parameters.push(pathParameter("name", `name of the ${gvk?.kind ?? "object"}`));
  if (path.includes("{namespace}")) parameters.push(pathParameter("namespace", "namespace of the object"));
  if (path.includes("{path}")) parameters.push(pathParameter("path", "path behind the proxy"));
  const item: JsonObject = parameters.length === 0 ? {} : { parameters };
  paths[path] = item;
  return item;
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

/** Creating answers 201, as putting and applying may; an asynchronous deletion answers 202. */
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

function typesOf({ action, produces }: Operation): readonly string[] {
  return produces ?? (collectionActions.has(action) ? listTypes : responseTypes);
}

function schemaOf({ response }: Operation, definitions: Definitions): JsonObject {
  if (response === "text") return { type: "string" };
  return response === "version" ? definitions.versionReference() : definitions.reference(response);
}

/** Documents about objects may be asked for indented; connections and discovery have no such form. */
function parametersOf({ action, queryParameters }: Operation): readonly QueryParameter[] {
  return action === undefined || action === "connect" ? queryParameters : [...queryParameters, pretty];
}

function v3Operation(operation: Operation, definitions: Definitions): JsonObject {
  const content = contentOf(typesOf(operation), schemaOf(operation, definitions));
  const codes = successCodes(operation).map(([code, description]) => [code, { description, content }] as const);
  return {
    ...common(operation),
    parameters: parametersOf(operation).map(({ name, type, description }) => ({
      name,
      in: "query",
      description,
      schema: { type, uniqueItems: true },
    })),
    ...v3Body(operation, definitions),
    responses: { ...Object.fromEntries(codes), "401": { description: "Unauthorized" } },
    ...extensions(operation),
  };
}

function v3Body({ body, action }: Operation, definitions: Definitions): JsonObject {
  if (body === undefined) return {};
  if (body === "patch") {
    return { requestBody: { content: contentOf(patchTypes, definitions.patchReference()), required: true } };
  }
  const required = action === "post" || action === "put";
  const content = contentOf(["*/*"], definitions.reference(body));
  return { requestBody: { content, ...(required ? { required } : {}) } };
}

function contentOf(types: readonly string[], schema: JsonObject): JsonObject {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

function v3PathParameter(name: string, description: string): JsonObject {
  return { name, in: "path", description, required: true, schema: { type: "string", uniqueItems: true } };
}

function v2Operation(operation: Operation, definitions: Definitions): JsonObject {
  const schema = schemaOf(operation, definitions);
  const codes = successCodes(operation).map(([code, description]) => [code, { description, schema }] as const);
  const parameters: JsonObject[] = parametersOf(operation).map(({ name, type, description }) => ({
    name,
    in: "query",
    description,
    type,
    uniqueItems: true,
  }));
  const body = v2Body(operation, definitions);
  return {
    ...common(operation),
    consumes: operation.body === "patch" ? patchTypes : ["*/*"],
    produces: [...typesOf(operation)],
    schemes: ["https"],
    parameters: body === undefined ? parameters : [body, ...parameters],
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

function v2PathParameter(name: string, description: string): JsonObject {
  return { name, in: "path", description, required: true, type: "string", uniqueItems: true };
}
