import { Elysia } from "elysia";
import { status } from "../api/status.ts";
import type { Eventual } from "../process/eventual.ts";
import type { Exchange, Handler, HttpResponse, IncomingRequest } from "../request/exchange.ts";
import { buildChain, type ChainOptions } from "./filters/chain.ts";

/** Paths and their handler. A path that ends in `/*` covers everything below it. */
export interface AppPlugin {
  readonly name: string;
  /** Called for every request, because kinds come and go. */
  readonly paths: readonly string[];
  readonly handle: Handler;
}

export interface AppOptions {
  readonly chain: ChainOptions;
  /** `/livez`, `/readyz`, `/healthz` and the paths below them. */
  readonly health: Handler;
  readonly metrics: Handler;
  readonly version: Handler;
  /** Every resource request. */
  readonly resources: Handler;
  /** Discovery, OpenAPI and similar documents. */
  readonly plugins?: readonly AppPlugin[] | undefined;
  /** Answers all other paths; by default 404 as text. */
  readonly notFound?: Handler | undefined;
}

/**
 * The whole server as a function of a request: the filters, then one Elysia application of named plugins. Elysia never
 * sees the client's path, because its URL parser would normalise it and might route another path than the authorized one.
 * RequestInfo chooses the plugin, and Elysia is asked for that plugin's fixed path.
 */
export function buildApp(options: AppOptions): (request: IncomingRequest) => Eventual<HttpResponse> {
  const plugins: readonly AppPlugin[] = [
    {
      name: "health",
      paths: ["livez", "readyz", "healthz"].flatMap((name) => [`/${name}`, `/${name}/*`]),
      handle: options.health,
    },
    { name: "metrics", paths: ["/metrics"], handle: options.metrics },
    { name: "version", paths: ["/version", "/version/*"], handle: options.version },
    ...(options.plugins ?? []),
  ];
  const app = new Elysia({ name: "quorate" });
  for (const { name, handle } of plugins) app.use(carrier(name, handle));
  app.use(carrier(resourcePlugin, options.resources));
  app.use(carrier(notFoundPlugin, options.notFound ?? pathNotFound));

  return buildChain(options.chain, (exchange) => {
    const parcel = new Parcel(exchange, choosePlugin(plugins, exchange));
    app.fetch(parcel as unknown as Request);
    if (parcel.answer === undefined) throw new Error("Elysia answered without a plugin");
    return parcel.answer;
  });
}

const resourcePlugin = "resources";
const notFoundPlugin = "not-found";

/**
 * An exchange on its way through Elysia, which never reads a body and never renders an error. Elysia's router needs only
 * `method` and `url`. A real Request would add nothing and cost a microsecond.
 */
class Parcel {
  readonly method = "GET";
  /** The authority is fixed, because Elysia finds the path at a fixed offset in the URL. */
  readonly url: string;
  readonly exchange: Exchange;
  answer: ReturnType<Handler> | undefined;

  constructor(exchange: Exchange, plugin: string) {
    this.url = `http://kube-apiserver/${plugin}`;
    this.exchange = exchange;
  }
}

/** The response that Elysia sees for every request. */
const delivered = new Response(null);

/**
 * Returns a handler as a named Elysia plugin. It takes only `request` from the context, because Elysia parses whatever
 * else a handler takes.
 */
function carrier(name: string, handle: Handler) {
  return new Elysia({ name }).all(
    `/${name}`,
    ({ request }) => {
      const parcel = request as unknown as Parcel;
      parcel.answer = attempt(handle, parcel.exchange);
      return delivered;
    },
    { parse: "none" },
  );
}

function attempt(handle: Handler, exchange: Exchange): ReturnType<Handler> {
  try {
    return handle(exchange);
  } catch (error) {
    return Promise.reject(error);
  }
}

function choosePlugin(plugins: readonly AppPlugin[], { info }: Exchange): string {
  if (info.kind === "resource") return resourcePlugin;
  if (info.isAmbiguous) return notFoundPlugin;
  const found = plugins.find(({ paths }) => paths.some((path) => matches(path, info.path)));
  return found?.name ?? notFoundPlugin;
}

function matches(pattern: string, path: string): boolean {
  return pattern.endsWith("/*") ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}

const pathNotFound: Handler = () => Promise.reject(status.pathNotFound());
