import type { Schema, StructSchema } from "../../api/schema/schema.ts";
import { structOf } from "../../api/scheme/object-form.ts";
import type { SubresourceInfo } from "../../api/scheme/resource.ts";
import {
  capitalized,
  type HttpMethod,
  type Operation,
  parameter,
  type QueryParameter,
  type Scope,
} from "./operation.ts";

const proxyMethods: readonly HttpMethod[] = ["get", "put", "post", "delete", "options", "head", "patch"];
const sessionMethods: readonly HttpMethod[] = ["get", "post"];

/** Returns the operations of a subresource that is a connection and not a document. */
export function connectOperations(scope: Scope, subresource: SubresourceInfo): Operation[] {
  const { name, gvk, form } = subresource;
  const path = `${scope.itemPath}/${name}`;
  if (name === "log") return [logOperation(scope, path)];
  const isProxy = name === "proxy";
  const options = optionsOf(structOf({ form }));
  const id = `${scope.namespaced}${scope.info.kind}${capitalized(name)}`;
  const connections = isProxy ? ["", "WithPath"] : [""];
  return connections.flatMap((suffix) =>
    (isProxy ? proxyMethods : sessionMethods).map((method) => ({
      path: suffix === "" ? path : `${path}/{path}`,
      method,
      action: "connect" as const,
      id: `connect${scope.group}${capitalized(method)}${id}${suffix}`,
      tag: scope.tag,
      description: `connect to ${name} of the object of kind ${scope.info.kind}`,
      gvk,
      queryParameters: options,
      body: undefined,
      isBuiltIn: true,
      response: "text" as const,
      produces: ["*/*"],
    })),
  );
}

const logParameters: readonly QueryParameter[] = [
  parameter("container", "string", "The container; required if the pod has several."),
  parameter("follow", "boolean", "Follow the log as it grows."),
  parameter("insecureSkipTLSVerifyBackend", "boolean", "Do not verify the certificate of the node."),
  parameter("limitBytes", "integer", "Maximum number of bytes to send."),
  parameter("previous", "boolean", "The log of the previous container."),
  parameter("sinceSeconds", "integer", "Only entries of the last seconds."),
  parameter("stream", "string", "All, Stdout or Stderr; requires a feature gate that is off."),
  parameter("tailLines", "integer", "Only the last lines."),
  parameter("timestamps", "boolean", "Start each line with its timestamp."),
];

function logOperation({ group, info, namespaced, tag }: Scope, path: string): Operation {
  return {
    path,
    method: "get",
    action: "get",
    id: `read${group}${namespaced}${info.kind}Log`,
    tag,
    description: `read log of the object of kind ${info.kind}`,
    gvk: info,
    queryParameters: logParameters,
    body: undefined,
    isBuiltIn: true,
    response: "text",
    produces: ["text/plain", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"],
  };
}

/** Returns the fields of an options type as parameters. Only scalars have a form in a query. */
function optionsOf({ fields }: StructSchema): QueryParameter[] {
  return [...fields.values()].flatMap(({ name, schema }) => {
    const type = parameterType(schema.kind === "list" ? schema.items : schema);
    return type === undefined ? [] : [parameter(name, type, `Option ${name} of the connection.`)];
  });
}

function parameterType(schema: Schema): QueryParameter["type"] | undefined {
  if (schema.kind !== "scalar") return undefined;
  switch (schema.scalar) {
    case "string":
      return "string";
    case "bool":
      return "boolean";
    case "int32":
    case "int64":
      return "integer";
    default:
      return undefined;
  }
}
