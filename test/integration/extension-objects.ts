import type { IncomingMessage, ServerResponse } from "node:http";
import { type ExtensionServer, group, root } from "./extension-server.ts";

const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** Answers that a test may disable. */
export interface ExtensionDocuments {
  discovery: object | undefined;
  openApiV2: object | undefined;
  openApiV3: object | undefined;
}

const reference = { $ref: "#/definitions/com.example.widgets.v1.Widget" };
const kinds = [{ group, version: "v1", kind: "Widget" }];
const list = {
  operationId: "listWidget",
  tags: ["widgets"],
  responses: { 200: { description: "OK", schema: reference } },
};

/** Returns the documents of a server whose Widgets can be created, deleted and watched. */
export function widgetDocuments(): ExtensionDocuments {
  const resource = {
    resource: "widgets",
    responseKind: { group, version: "v1", kind: "Widget" },
    scope: "Namespaced",
    singularResource: "widget",
    verbs: ["create", "delete", "get", "list", "patch", "watch"],
    shortNames: ["wdg"],
  };
  const versions = [{ version: "v1", resources: [resource], freshness: "Current" }];
  const widget = {
    description: "A widget of an extension server.",
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      spec: { type: "object", description: "How the widget should be.", properties: { size: { type: "integer" } } },
    },
    "x-kubernetes-group-version-kind": kinds,
  };
  const path = `${root}/namespaces/{namespace}/widgets`;
  return {
    discovery: {
      kind: "APIGroupDiscoveryList",
      apiVersion: "apidiscovery.k8s.io/v2",
      items: [{ metadata: { name: group }, versions }],
    },
    openApiV2: {
      swagger: "2.0",
      info: { title: "widgets", version: "v1" },
      paths: {
        [path]: { get: { ...list, produces: ["application/json"] } },
        "/apis/apps/v1/deployments": { get: list },
      },
      definitions: { "com.example.widgets.v1.Widget": widget },
    },
    openApiV3: {
      openapi: "3.0.0",
      info: { title: "widgets", version: "v1" },
      paths: {
        [path]: {
          get: {
            "x-kubernetes-action": "list",
            "x-kubernetes-group-version-kind": kinds[0],
            responses: { 200: { description: "OK" } },
          },
        },
      },
      components: { schemas: { "com.example.widgets.v1.Widget": widget } },
    },
  };
}

interface Widget {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    resourceVersion: string;
    ownerReferences?: { uid: string }[];
    finalizers?: string[];
    deletionTimestamp?: string;
  };
}

/** The Widgets of an extension server, in memory. */
export class ExtensionObjects {
  readonly documents = widgetDocuments();
  /** By namespace and name. */
  readonly #objects = new Map<string, Widget>();
  readonly #watches = new Set<ServerResponse>();
  #version = 1;

  constructor(extension: ExtensionServer) {
    extension.answer = (message, response) => void this.#answer(message, response);
  }

  /** Returns `<namespace>/<name>` of all objects. */
  get names(): string[] {
    return [...this.#objects.keys()].sort();
  }

  get(key: string): Widget | undefined {
    return this.#objects.get(key);
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(message.url ?? "/", "https://extension");
    const { discovery, openApiV2, openApiV3 } = this.documents;
    if (pathname === "/apis") return reply(response, discovery, { "content-type": aggregatedType });
    if (pathname === "/openapi/v2") return reply(response, openApiV2);
    const key = `apis/${group}/v1`;
    const index = { paths: { [key]: { serverRelativeURL: `/openapi/v3/${key}?hash=1` } } };
    if (pathname === "/openapi/v3") return reply(response, openApiV3 && index);
    if (pathname === `/openapi/v3/${key}`) return reply(response, openApiV3);
    const { namespace, name } = placeOf(pathname);
    if (name === undefined && message.method === "GET") {
      if (searchParams.get("watch") === "true") return this.#watch(response);
      const items = [...this.#objects.values()].filter(
        ({ metadata }) => (namespace ?? metadata.namespace) === metadata.namespace,
      );
      return reply(response, {
        kind: "WidgetList",
        apiVersion: `${group}/v1`,
        metadata: { resourceVersion: `${this.#version}` },
        items,
      });
    }
    const body = await bodyOf(message);
    const found = this.#objects.get(`${namespace}/${name ?? body.metadata?.name}`);
    if (message.method === "POST") return this.#create(response, namespace ?? "", body);
    if (found === undefined) return notFound(response, name ?? "");
    if (message.method === "DELETE") return this.#delete(response, found, body);
    if (message.method === "PATCH") return this.#patch(response, found, body);
    reply(response, found);
  }

  #create(response: ServerResponse, namespace: string, body: any): void {
    const { name } = body.metadata;
    const metadata = { ...body.metadata, namespace, uid: crypto.randomUUID(), resourceVersion: "" };
    const object = { ...body, apiVersion: `${group}/v1`, kind: "Widget", metadata };
    this.#objects.set(`${namespace}/${name}`, object);
    this.#tell("ADDED", object);
    reply(response, object);
  }

  #delete(response: ServerResponse, object: Widget, body: any): void {
    const { uid = object.metadata.uid } = body.preconditions ?? {};
    if (uid !== object.metadata.uid) return notFound(response, object.metadata.name);
    const finalizers = [
      ...(object.metadata.finalizers ?? []),
      ...(body.propagationPolicy === "Foreground" ? ["foregroundDeletion"] : []),
      ...(body.propagationPolicy === "Orphan" ? ["orphan"] : []),
    ];
    if (finalizers.length === 0) this.#remove(object);
    else {
      Object.assign(object.metadata, {
        finalizers: [...new Set(finalizers)],
        deletionTimestamp: "2026-01-01T00:00:00Z",
      });
      this.#tell("MODIFIED", object);
    }
    reply(response, object);
  }

  /** Applies a merge patch of metadata. */
  #patch(response: ServerResponse, object: Widget, { metadata = {} }: any): void {
    for (const [key, value] of Object.entries(metadata)) {
      if (key === "uid" || key === "resourceVersion") continue;
      if (value === null) delete (object.metadata as Record<string, unknown>)[key];
      else (object.metadata as Record<string, unknown>)[key] = value;
    }
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp !== undefined && finalizers.length === 0) this.#remove(object);
    else this.#tell("MODIFIED", object);
    reply(response, object);
  }

  #remove(object: Widget): void {
    this.#objects.delete(`${object.metadata.namespace}/${object.metadata.name}`);
    this.#tell("DELETED", object);
  }

  #tell(type: string, object: Widget): void {
    object.metadata.resourceVersion = String(++this.#version);
    for (const watch of this.#watches) watch.write(`${JSON.stringify({ type, object })}\n`);
  }

  #watch(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    this.#watches.add(response);
    response.once("close", () => this.#watches.delete(response));
  }
}

/** @param body undefined for a path that is not served */
function reply(response: ServerResponse, body: object | undefined, headers: Record<string, string> = {}): void {
  response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json", ...headers });
  response.end(body === undefined ? "404 page not found" : JSON.stringify(body));
}

function notFound(response: ServerResponse, name: string): void {
  const details = { name, group, kind: "widgets" };
  response.writeHead(404, { "content-type": "application/json" });
  response.end(
    JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", details, code: 404 }),
  );
}

async function bodyOf(message: IncomingMessage): Promise<any> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === "" ? {} : JSON.parse(text);
}

/** Parses `<root>/namespaces/<namespace>/widgets/<name>`; the namespace and the name may be absent. */
function placeOf(pathname: string): { readonly namespace?: string | undefined; readonly name?: string | undefined } {
  const parts = pathname.slice(root.length + 1).split("/");
  return parts[0] === "namespaces" ? { namespace: parts[1], name: parts[3] } : { name: parts[1] };
}
