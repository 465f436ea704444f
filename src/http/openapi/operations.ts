import type { GroupVersionKind } from "../../api/gvk.ts";
import type { ObjectForm } from "../../api/scheme/object-form.ts";
import type { ResourceInfo, SubresourceInfo } from "../../api/scheme/resource.ts";
import { groupVersionPath } from "../../client/resource-path.ts";
import { connectOperations } from "./connect-operations.ts";
import { customListType, customType } from "./custom-types.ts";
import type { DocumentType } from "./document-type.ts";
import {
  capitalized,
  listParameters,
  type Operation,
  parameter,
  type QueryParameter,
  Scope,
  type TypeLookup,
} from "./operation.ts";
import { packageOf } from "./schema-name.ts";
import { watchOperations } from "./watch-operations.ts";

const writeParameters: readonly QueryParameter[] = [
  parameter("dryRun", "string", "All: run every step except the last, and store nothing."),
  parameter("fieldManager", "string", "Name of the manager that makes the change, for field ownership."),
  parameter("fieldValidation", "string", "Treatment of unknown and duplicate fields: Ignore, Warn or Strict."),
];
const forceParameter = parameter(
  "force",
  "boolean",
  "Take over fields that other managers own; only for apply patches.",
);
const deleteParameters: readonly QueryParameter[] = [
  parameter("dryRun", "string", "All: run every step except the last, and delete nothing."),
  parameter("gracePeriodSeconds", "integer", "Seconds that the object has to terminate; zero removes it at once."),
  parameter(
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "boolean",
    "Remove an unreadable object; requires a feature gate that is off.",
  ),
  parameter("orphanDependents", "boolean", "Superseded by propagationPolicy."),
  parameter("propagationPolicy", "string", "Treatment of dependents: Orphan, Background or Foreground."),
];

/** Subresources that are connections and not documents. */
const connectSubresources: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/** Returns every operation of one resource and of its subresources. */
export function operationsOf(info: ResourceInfo, typeOf: TypeLookup): Operation[] {
  const scope = new Scope(info, typeOf);
  const operations = [...collectionOperations(scope), ...itemOperations(scope)];
  for (const subresource of info.subresources.values()) {
    if (connectSubresources.has(subresource.name)) operations.push(...connectOperations(scope, subresource));
    else operations.push(...subresourceOperations(scope, subresource));
  }
  // Custom kinds are newer than the clients that use these old paths.
  return info.form.kind === "struct" ? [...operations, ...watchOperations(scope)] : operations;
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
        path: `${groupVersionPath(info)}/${info.resource}`,
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
        response: returnsDeleted(info) ? documentType(info, info.form) : typeOf("meta/v1.Status"),
      }),
    );
  }
  return operations;
}

const groupsThatReturnDeleted: ReadonlySet<string> = new Set(["resource.k8s.io", "storage.k8s.io"]);
const coreThatReturnsDeleted: ReadonlySet<string> = new Set([
  "persistentvolumeclaims",
  "persistentvolumes",
  "pods",
  "podtemplates",
  "resourcequotas",
  "serviceaccounts",
  "services",
]);

/** Reports whether a deletion is documented to answer with the object. */
function returnsDeleted({ group, resource }: ResourceInfo): boolean {
  if (group === "") return coreThatReturnsDeleted.has(resource);
  return groupsThatReturnDeleted.has(group) && resource !== "csistoragecapacities";
}

function subresourceOperations(scope: Scope, { name, gvk: own, form, verbs }: SubresourceInfo): Operation[] {
  const schema = documentType(scope.info, form);
  // Upstream names every operation of a custom kind after that kind.
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

/** Returns the operations that an object and its subresources share: read, replace, patch. */
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
