import { apiVersionOf } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import type { AggregatedBackends, BackendDocument } from "../../client/aggregation/aggregated-backend.ts";
import type { RemoteApi } from "../../client/aggregation/remote-api.ts";
import { Deadline } from "../../client/deadline.ts";
import type { RemoteServedApi } from "../../kinds/apiregistration/api-services.ts";
import { documentHash } from "../document-reply.ts";
import { partOf, readSwagger, type SwaggerPart } from "../openapi/swagger-part.ts";
import { readOpenApiIndex } from "./read-openapi-index.ts";
import type { PerServer } from "./remote-servers.ts";
import { RepeatedDownload, type RepeatedDownloadParts } from "./repeated-download.ts";

const intervalMs = 60_000;
const retryMsMax = 3_600_000;
const timeoutMs = 60_000;
const indexBytesMax = 1024 * 1024;
const swaggerBytesMax = 8 * 1024 * 1024;
const aggregator = { name: "system:aggregator", uid: "", groups: [], extra: new Map() };

export interface OpenApiServerParts extends Pick<RepeatedDownloadParts, "clock" | "random" | "slots"> {
  readonly remote: RemoteApi;
  readonly backends: Pick<AggregatedBackends, "get">;
  /** Called when the documents may have changed. */
  readonly changed: () => void;
}

/** The paths of one group version in the Swagger document of an extension server. */
export interface VersionSwagger {
  readonly info: JsonObject;
  readonly part: SwaggerPart;
}

/** The OpenAPI documents of one extension server. The last known ones remain if the server fails. */
export class OpenApiServer implements PerServer {
  readonly #parts: OpenApiServerParts;
  readonly #repeated: RepeatedDownload;
  #apis: readonly RemoteServedApi[] = [];
  #index: ReadonlyMap<string, string> = new Map();
  #indexHash = "";
  /** By apiVersion. */
  #swaggers: ReadonlyMap<string, VersionSwagger> = new Map();
  #swaggerHash = "";
  #swaggerTag = "";
  #hasIndex = true;

  constructor(parts: OpenApiServerParts) {
    this.#parts = parts;
    this.#repeated = new RepeatedDownload({
      ...parts,
      intervalMs,
      retryMsMin: intervalMs,
      retryMsMax,
      download: (signal) => this.#download(signal),
      ended: parts.changed,
    });
  }

  /** APIServices of the server. */
  get apis(): readonly RemoteServedApi[] {
    return this.#apis;
  }

  /** URLs of its OpenAPI 3.0 documents, by key; the same map as before if nothing has changed. */
  get index(): ReadonlyMap<string, string> {
    return this.#index;
  }

  /** Reports whether the server has any OpenAPI 3.0 documents. */
  get hasIndex(): boolean {
    return this.#hasIndex;
  }

  /** Returns the Swagger document of a group version; the same object as before if nothing has changed. */
  swagger(apiVersion: string): VersionSwagger | undefined {
    return this.#swaggers.get(apiVersion);
  }

  set(apis: readonly RemoteServedApi[]): void {
    const before = new Set(this.#apis.filter(({ isAvailable }) => isAvailable).map(apiVersionOf));
    this.#apis = apis;
    const available = apis.filter(({ isAvailable }) => isAvailable);
    if (available.length === 0) this.#repeated.pause();
    else if (available.some((api) => !before.has(apiVersionOf(api)))) {
      // Only the paths of known group versions were kept, so request the whole document.
      this.#swaggerTag = "";
      this.#swaggerHash = "";
      this.#repeated.now();
    }
  }

  [Symbol.dispose](): void {
    this.#repeated[Symbol.dispose]();
  }

  async #download(signal: AbortSignal): Promise<void> {
    const results = await Promise.allSettled([this.#downloadIndex(signal), this.#downloadSwagger(signal)]);
    const failed = results.filter((result) => result.status === "rejected");
    // A server may have only one of them.
    if (failed.length === results.length) throw failed[0]?.reason;
  }

  async #downloadIndex(signal: AbortSignal): Promise<void> {
    const answer = await this.#get("/openapi/v3", [], indexBytesMax, signal);
    this.#hasIndex = answer.code !== 404;
    if (!this.#hasIndex) {
      this.#index = new Map();
      this.#indexHash = "";
      return;
    }
    if (answer.code !== 200) throw new Error(`the extension server answered ${answer.code}`);
    const hash = documentHash(answer.body);
    if (hash === this.#indexHash) return;
    this.#index = readOpenApiIndex(answer.body);
    this.#indexHash = hash;
  }

  async #downloadSwagger(signal: AbortSignal): Promise<void> {
    const known: [string, string][] = this.#swaggerTag === "" ? [] : [["if-none-match", this.#swaggerTag]];
    const headers: [string, string][] = [["accept", "application/json"], ...known];
    const answer = await this.#get("/openapi/v2", headers, swaggerBytesMax, signal);
    if (answer.code === 304 && known.length > 0) return;
    if (answer.code === 404) {
      this.#swaggers = new Map();
      this.#swaggerHash = "";
      this.#swaggerTag = "";
      return;
    }
    if (answer.code !== 200) throw new Error(`the extension server answered ${answer.code}`);
    const hash = documentHash(answer.body);
    if (hash === this.#swaggerHash) return;
    // A rejected document is not read again either.
    this.#swaggerHash = hash;
    const { info, ...whole } = readSwagger(answer.body);
    this.#swaggers = new Map(
      this.#apis.map((api) => {
        const apiVersion = apiVersionOf(api);
        return [apiVersion, { info, part: partOf(whole, (path) => path.startsWith(`/apis/${apiVersion}/`)) }];
      }),
    );
    this.#swaggerTag = answer.headers.find(([name]) => name === "etag")?.[1] ?? "";
  }

  async #get(
    target: string,
    headers: [string, string][],
    bytesMax: number,
    outer: AbortSignal,
  ): Promise<BackendDocument> {
    const { backends, clock, remote } = this.#parts;
    using deadline = new Deadline(clock, timeoutMs, outer);
    const { signal } = deadline;
    return await deadline.race(backends.get(remote, { target, headers, user: aggregator, signal }, bytesMax));
  }
}
