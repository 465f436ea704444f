import { apiVersionOf } from "../../api/gvk.ts";
import type { AggregatedBackends } from "../../client/aggregation/aggregated-backend.ts";
import { allApis, type ServedApi, type ServedApis } from "../../kinds/apiregistration/api-services.ts";
import type { Clock } from "../../process/clock.ts";
import { Slots } from "../../process/slots.ts";
import { documentKey } from "../openapi/document-key.ts";
import type { ConvertedDocument, RemoteDocuments } from "../openapi/remote-documents.ts";
import type { SwaggerPart } from "../openapi/swagger-part.ts";
import { OpenApiServer } from "./openapi-server.ts";
import { RemoteServers } from "./remote-servers.ts";

/** Number of concurrent downloads. */
const downloadsAtATime = 4;

export interface RemoteOpenApiParts {
  readonly apis: ServedApis;
  readonly backends: Pick<AggregatedBackends, "get">;
  readonly clock: Clock;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
}

/** The OpenAPI documents of all extension servers, downloaded in advance and again every minute. */
export class RemoteOpenApi implements RemoteDocuments {
  readonly #apis: ServedApis;
  readonly #servers: RemoteServers<OpenApiServer>;
  #swaggers: readonly SwaggerPart[] = [];
  #listed: ReadonlyMap<string, string> = new Map();
  #converted: ReadonlyMap<string, ConvertedDocument> = new Map();
  /** APIServices by the keys of their servers' documents. */
  #owners: ReadonlyMap<string, ServedApi> = new Map();
  #generation = 0;

  constructor(parts: RemoteOpenApiParts) {
    this.#apis = parts.apis;
    const slots = new Slots(downloadsAtATime);
    const changed = () => this.#collect();
    this.#servers = new RemoteServers(parts.apis, (remote) => new OpenApiServer({ ...parts, slots, remote, changed }));
  }

  /** Follows the APIServices until it is disposed of. */
  start(): Disposable {
    return this.#servers.start(() => this.#collect());
  }

  swaggers(): readonly SwaggerPart[] {
    return this.#swaggers;
  }

  listed(): ReadonlyMap<string, string> {
    return this.#listed;
  }

  converted(): ReadonlyMap<string, ConvertedDocument> {
    return this.#converted;
  }

  generation(): number {
    return this.#generation;
  }

  /** Returns an APIService of the server that has the OpenAPI 3.0 document with this key. */
  owner(key: string): ServedApi | undefined {
    return this.#owners.get(key);
  }

  /** Joins the documents of all servers, in the order of their APIServices. */
  #collect(): void {
    const swaggers: SwaggerPart[] = [];
    const listed = new Map<string, string>();
    const converted = new Map<string, ConvertedDocument>();
    const owners = new Map<string, ServedApi>();
    const servers = new Map(
      [...this.#servers.all()].flatMap((server) => server.apis.map((api) => [apiVersionOf(api), server] as const)),
    );
    for (const api of allApis(this.#apis)) {
      const server = servers.get(apiVersionOf(api));
      if (server === undefined) continue;
      const swagger = server.swagger(apiVersionOf(api));
      if (swagger !== undefined) swaggers.push(swagger.part);
      if (!server.hasIndex && swagger !== undefined) converted.set(documentKey(api), swagger);
      for (const [key, url] of server.index) {
        if (owners.has(key)) continue;
        owners.set(key, api);
        listed.set(key, url);
      }
    }
    this.#owners = owners;
    const isSame =
      isEqual(swaggers, this.#swaggers) &&
      isEqual([...listed].flat(), [...this.#listed].flat()) &&
      isEqual([...converted].flat(), [...this.#converted].flat());
    if (isSame) return;
    this.#swaggers = swaggers;
    this.#listed = listed;
    this.#converted = converted;
    this.#generation++;
  }
}

function isEqual(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((one, at) => one === others[at]);
}
