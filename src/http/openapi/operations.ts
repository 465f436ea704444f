import { apiVersionOf, type GroupVersion, type GroupVersionKind } from "../../api/gvk.ts";
import type { ResourceInfo, SubresourceInfo } from "../../api/scheme/resource.ts";
import type { ObjectForm } from "../../api/scheme/object-form.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import { customListType, customType } from "./custom-types.ts";
import type { DocumentType } from "./document-type.ts";
import { packageOf } from "./schema-name.ts";

type HttpMethod = "get" | "put" | "post" | "delete" | "patch";
type Action = "get" | "list" | "post" | "put" | "patch" | "delete" | "deletecollection";

/** One call of the API, in terms that both dialects can write down. */
export interface Operation {
  readonly path: string;
  readonly method: HttpMethod;
  readonly action: Action;
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  readonly gvk: GroupVersionKind;
  readonly queryParameters: readonly QueryParameter[];
  /** Type of the request body; `patch` for the body of a PATCH. */
  readonly body: DocumentType | "patch" | undefined;
  readonly response: DocumentType;
  /** The document has a protobuf form, and takes strategic merge patches. */
  readonly isBuiltIn: boolean;
}
export interface QueryParameter {
  readonly name: string;
  readonly type: "string" | "boolean" | "integer";
  readonly description: string;
}

/** Looks up a generated type: `meta/v1.Status`. */
export type TypeLookup = (name: string) => StructSchema;

const listParameters: readonly QueryParameter[] = [
  parameter("allowWatchBookmarks", "boolean", "Ask a watch for events that carry only a resource version."),
  parameter("continue", "string", "Token of the next page, from the metadata of the page before."),
  parameter("fieldSelector", "string", "Limit the result to objects with these field values."),
  parameter("labelSelector", "string", "Limit the result to objects whose labels match."),
  parameter("limit", "integer", "Largest number of objects in one page."),
  parameter("resourceVersion", "string", "How old the answer may be, or where a watch starts."),
  parameter("resourceVersionMatch", "string", "How resourceVersion is meant: Exact or NotOlderThan."),
  parameter("sendInitialEvents", "boolean", "Begin a watch with the current objects as events."),
  parameter("timeoutSeconds", "integer", "End the call after this time."),
  parameter("watch", "boolean", "Stream changes instead of a list."),
];
const writeParameters: readonly QueryParameter[] = [
  parameter("dryRun", "string", "All: go through every step but the last, and store nothing."),
  parameter("fieldManager", "string", "Name of the one who makes the change, for field ownership."),
  parameter("fieldValidation", "string", "What to do about unknown and repeated fields: Ignore, Warn or Strict."),
];
const forceParameter = parameter("force", "boolean", "Take over fields that others own; for apply patches only.");
const deleteParameters: readonly QueryParameter[] = [
  parameter("dryRun", "string", "All: go through every step but the last, and delete nothing."),
  parameter("gracePeriodSeconds", "integer", "Time that the object is given to end; zero ends it at once."),
  parameter("orphanDependents", "boolean", "Superseded by propagationPolicy."),
  parameter("propagationPolicy", "string", "What happens to dependents: Orphan, Background or Foreground."),
];

/** Subresources that are connections and not documents. */
const connectSubresources: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/** Every operation of one resource and of its subresources. */
export function operationsOf(info: ResourceInfo, typeOf: TypeLookup): Operation[] {
  const scope = new Scope(info, typeOf);
  const operations = [...collectionOperations(scope), ...itemOperations(scope)];
  for (const subresource of info.subresources.values()) {
    if (!connectSubresources.has(subresource.name)) operations.push(...subresourceOperations(scope, subresource));
  }
  return operations;
}

/** `CoreV1`, `RbacAuthorizationV1`: the group version inside operation ids. */
function operationGroup({ group, version }: GroupVersion): string {
  return `${groupWords(group).map(capitalized).join("")}${capitalized(version)}`;
}

/** `core_v1`: the tag of the operations of a group version. */
function operationTag({ group, version }: GroupVersion): string {
  const [first = "", ...rest] = groupWords(group);
  return `${first}${rest.map(capitalized).join("")}_${version}`;
}

class Scope {
  readonly info: ResourceInfo;
  readonly typeOf: TypeLookup;
  readonly group: string;
  readonly tag: string;
  /** `Namespaced` before the kind in operation ids. */
  readonly namespaced: string;
  readonly collectionPath: string;

  constructor(info: ResourceInfo, typeOf: TypeLookup) {
    this.info = info;
    this.typeOf = typeOf;
    this.group = operationGroup(info);
    this.tag = operationTag(info);
    this.namespaced = info.namespaced ? "Namespaced" : "";
    this.collectionPath = `${rootPath(info)}${info.namespaced ? "/namespaces/{namespace}" : ""}/${info.resource}`;
  }

  get itemPath(): string {
    return `${this.collectionPath}/{name}`;
  }

  /** `prefix` is the verb, `suffix` a subresource. */
  operation(
    prefix: string,
    suffix: string,
    rest: Omit<Operation, "id" | "tag" | "gvk" | "isBuiltIn"> & { gvk?: GroupVersionKind },
  ): Operation {
    const id = `${prefix}${this.namespaced}${this.info.kind}${suffix}`;
    return { gvk: this.info, ...rest, id, tag: this.tag, isBuiltIn: this.info.form.kind === "struct" };
  }
}

function collectionOperations(scope: Scope): Operation[] {
  const { info, group, collectionPath: path, typeOf } = scope;
  const description = `list objects of kind ${info.kind}`;
  const list = { method: "get", action: "list", queryParameters: listParameters, body: undefined } as const;
  const operations: Operation[] = [];
  if (info.verbs.includes("list")) {
    const response = listTypeOf(info, typeOf);
    operations.push(scope.operation(`list${group}`, "", { ...list, path, description, response }));
    if (info.namespaced) {
      operations.push({
        ...list,
        path: `${rootPath(info)}/${info.resource}`,
        description: `${description} in all namespaces`,
        id: `list${group}${info.kind}ForAllNamespaces`,
        tag: scope.tag,
        gvk: info,
        response,
        isBuiltIn: info.form.kind === "struct",
      });
    }
  }
  if (info.verbs.includes("create")) {
    operations.push(
      scope.operation(`create${group}`, "", {
        path,
        method: "post",
        action: "post",
        description: `create an object of kind ${info.kind}`,
        queryParameters: writeParameters,
        body: documentType(info, info.form),
        response: documentType(info, info.form),
      }),
    );
  }
  if (info.verbs.includes("deletecollection")) {
    operations.push(
      scope.operation(`delete${group}Collection`, "", {
        path,
        method: "delete",
        action: "deletecollection",
        description: `delete all selected objects of kind ${info.kind}`,
        queryParameters: [...listParameters.filter(({ name }) => !isWatchParameter(name)), ...deleteParameters],
        body: typeOf("meta/v1.DeleteOptions"),
        response: typeOf("meta/v1.Status"),
      }),
    );
  }
  return operations;
}

function documentType(info: ResourceInfo, form: ObjectForm): DocumentType {
  return form.kind === "struct" ? form.schema : customType(info, form);
}

function listTypeOf(info: ResourceInfo, typeOf: TypeLookup): DocumentType {
  const { form } = info;
  return form.kind === "struct"
    ? typeOf(`${packageOf(form.schema.name)}.${info.listKind}`)
    : customListType(info, form);
}

function itemOperations(scope: Scope): Operation[] {
  const { info, group, itemPath: path, typeOf } = scope;
  const operations = documentOperations(
    scope,
    documentType(info, info.form),
    info,
    info.verbs,
    path,
    "",
    `the object of kind ${info.kind}`,
  );
  if (info.verbs.includes("delete")) {
    operations.push(
      scope.operation(`delete${group}`, "", {
        path,
        method: "delete",
        action: "delete",
        description: `delete the object of kind ${info.kind}`,
        queryParameters: deleteParameters,
        body: typeOf("meta/v1.DeleteOptions"),
        response: typeOf("meta/v1.Status"),
      }),
    );
  }
  return operations;
}

function subresourceOperations(scope: Scope, { name, gvk: own, form, verbs }: SubresourceInfo): Operation[] {
  const schema = documentType(scope.info, form);
  // Upstream calls every operation of a custom kind one on that kind.
  const gvk = scope.info.form.kind === "struct" ? own : scope.info;
  const path = `${scope.itemPath}/${name}`;
  const what = `${name} of the object of kind ${scope.info.kind}`;
  const operations = documentOperations(scope, schema, gvk, verbs, path, capitalized(name), what);
  if (verbs.includes("create")) {
    operations.push(
      scope.operation(`create${scope.group}`, capitalized(name), {
        path,
        method: "post",
        action: "post",
        description: `create ${what}`,
        gvk,
        queryParameters: writeParameters,
        body: schema,
        response: schema,
      }),
    );
  }
  return operations;
}

/** What an object and a subresource of it have in common: read, replace, patch. */
function documentOperations(
  scope: Scope,
  schema: DocumentType,
  gvk: GroupVersionKind,
  verbs: readonly string[],
  path: string,
  suffix: string,
  what: string,
): Operation[] {
  const { group } = scope;
  const common = { path, gvk, response: schema };
  const operations: Operation[] = [];
  if (verbs.includes("get")) {
    const rest = { method: "get", action: "get", queryParameters: [], body: undefined } as const;
    operations.push(scope.operation(`read${group}`, suffix, { ...common, ...rest, description: `read ${what}` }));
  }
  if (verbs.includes("update")) {
    const rest = { method: "put", action: "put", queryParameters: writeParameters, body: schema } as const;
    operations.push(scope.operation(`replace${group}`, suffix, { ...common, ...rest, description: `replace ${what}` }));
  }
  if (verbs.includes("patch")) {
    const queryParameters = [...writeParameters, forceParameter];
    const rest = { method: "patch", action: "patch", queryParameters, body: "patch" } as const;
    operations.push(
      scope.operation(`patch${group}`, suffix, { ...common, ...rest, description: `change parts of ${what}` }),
    );
  }
  return operations;
}

function isWatchParameter(name: string): boolean {
  return name === "watch" || name === "allowWatchBookmarks";
}

function rootPath(info: GroupVersion): string {
  return `${info.group === "" ? "/api" : "/apis"}/${apiVersionOf(info)}`;
}

function groupWords(group: string): string[] {
  if (group === "") return ["core"];
  return (group.endsWith(".k8s.io") ? group.slice(0, -".k8s.io".length) : group).split(/[.-]/);
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

function parameter(name: string, type: QueryParameter["type"], description: string): QueryParameter {
  return { name, type, description };
}
