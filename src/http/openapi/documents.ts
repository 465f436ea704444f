import type { GroupVersion, GroupVersionKind } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import type { ServedTypes } from "../discovery/served-types.ts";
import { Definitions, type KindsByType } from "./definitions.ts";
import { type Operation, operationsOf, type QueryParameter, type TypeLookup } from "./operations.ts";
import { packageOf } from "./schema-name.ts";

export interface OpenApiSource {
  readonly catalog: ServedTypes;
  readonly typeOf: TypeLookup;
  /** Of the API, as `v1.36.0`. */
  readonly version: string;
  /** Applies may be sent as CBOR; by default they may not. */
  readonly cbor?: boolean;
}

const responseTypes = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const listTypes = [
  ...responseTypes,
  "application/json;stream=watch",
  "application/vnd.kubernetes.protobuf;stream=watch",
];
const customTypes = ["application/json", "application/yaml"];
/** kubectl computes a three-way strategic patch only for kinds whose PATCH takes one. */
const strategicMergePatch = "application/strategic-merge-patch+json";
const patchTypes = [
  "application/apply-patch+yaml",
  "application/json-patch+json",
  "application/merge-patch+json",
  strategicMergePatch,
];
const pretty: QueryParameter = { name: "pretty", type: "string", description: "true: write the answer indented." };

/** The OpenAPI 3.0 document of one group version. */
export function openApiV3Document(source: OpenApiSource, groupVersion: GroupVersion): JsonObject {
  const resources = source.catalog.resources(groupVersion);
  const definitions = new Definitions("v3", kindsByType(source, resources));
  const paths: JsonObject = {};
  for (const operation of resources.flatMap((info) => operationsOf(info, source.typeOf))) {
    const item = pathItem(paths, operation, v3PathParameter);
    item[operation.method] = v3Operation(operation, definitions, patchTypesOf(operation, source));
  }
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "unversioned" },
    paths,
    components: { schemas: definitions.toJson() },
  };
}

/** The one Swagger 2.0 document of everything that is served. */
export function openApiV2Document(source: OpenApiSource): JsonObject {
  const resources = source.catalog
    .groups()
    .flatMap(({ group, versions }) => versions.flatMap((version) => source.catalog.resources({ group, version })));
  const definitions = new Definitions("v2", kindsByType(source, resources));
  const paths: JsonObject = {};
  for (const operation of resources.flatMap((info) => operationsOf(info, source.typeOf))) {
    const item = pathItem(paths, operation, v2PathParameter);
    item[operation.method] = v2Operation(operation, definitions, patchTypesOf(operation, source));
  }
  return {
    swagger: "2.0",
    info: { title: "Kubernetes", version: source.version },
    paths,
    definitions: definitions.toJson(),
  };
}

function patchTypesOf({ isBuiltIn }: Operation, { cbor = false }: OpenApiSource): readonly string[] {
  const types = isBuiltIn ? patchTypes : patchTypes.filter((type) => type !== strategicMergePatch);
  return cbor ? [...types, "application/apply-patch+cbor"] : types;
}

/** Top-level types, their lists, and the options that every group version has. */
function kindsByType({ catalog }: OpenApiSource, resources: readonly ResourceInfo[]): KindsByType {
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
  for (const { group, versions } of catalog.groups()) {
    for (const version of versions) {
      // Custom kinds come and go: no other group's document changes with them.
      const isBuiltIn = catalog.resources({ group, version }).some(({ form }) => form.kind === "struct");
      if (isBuiltIn) add("meta/v1.DeleteOptions", { group, version, kind: "DeleteOptions" });
    }
  }
  add("meta/v1.Status", { group: "", version: "v1", kind: "Status" });
  return kinds;
}

function sameKind(a: GroupVersionKind, b: GroupVersionKind): boolean {
  return a.group === b.group && a.version === b.version && a.kind === b.kind;
}

function answerTypes({ action, isBuiltIn }: Operation): readonly string[] {
  if (!isBuiltIn) return customTypes;
  return action === "list" ? listTypes : responseTypes;
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
  if (path.includes("{name}")) parameters.push(pathParameter("name", `name of the ${gvk.kind}`));
  if (path.includes("{namespace}")) parameters.push(pathParameter("namespace", "namespace of the object"));
  const item: JsonObject = parameters.length === 0 ? {} : { parameters };
  paths[path] = item;
  return item;
}

function common({ description, tag, id }: Operation): JsonObject {
  return { description, tags: [tag], operationId: id };
}

function extensions({ action, gvk }: Operation): JsonObject {
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

function v3Operation(operation: Operation, definitions: Definitions, patches: readonly string[]): JsonObject {
  const content = contentOf(answerTypes(operation), definitions.reference(operation.response));
  const codes = successCodes(operation).map(([code, description]) => [code, { description, content }] as const);
  return {
    ...common(operation),
    parameters: [...operation.queryParameters, pretty].map(({ name, type, description }) => ({
      name,
      in: "query",
      description,
      schema: { type, uniqueItems: true },
    })),
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

function v3PathParameter(name: string, description: string): JsonObject {
  return { name, in: "path", description, required: true, schema: { type: "string", uniqueItems: true } };
}

function v2Operation(operation: Operation, definitions: Definitions, patches: readonly string[]): JsonObject {
  const schema = definitions.reference(operation.response);
  const codes = successCodes(operation).map(([code, description]) => [code, { description, schema }] as const);
  const parameters: JsonObject[] = [...operation.queryParameters, pretty].map(({ name, type, description }) => ({
    name,
    in: "query",
    description,
    type,
    uniqueItems: true,
  }));
  const body = v2Body(operation, definitions);
  return {
    ...common(operation),
    consumes: operation.body === "patch" ? [...patches] : ["*/*"],
    produces: [...answerTypes(operation)],
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
