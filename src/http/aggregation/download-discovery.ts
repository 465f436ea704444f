import { apiVersionOf, type GroupVersion } from "../../api/gvk.ts";
import type { AggregatedBackends, BackendDocument } from "../../client/aggregation/aggregated-backend.ts";
import type { DiscoveredResource } from "../../client/aggregation/discovered-version.ts";
import type { RemoteApi } from "../../client/aggregation/remote-api.ts";
import { Deadline } from "../../client/deadline.ts";
import { groupVersionPath } from "../../client/resource-path.ts";
import type { Clock } from "../../process/clock.ts";
import { parseAccept } from "../negotiate.ts";
import { type DiscoveredResources, readAggregatedDiscovery, readResourceList } from "./read-discovery.ts";

const timeoutMs = 5_000;
const bytesMax = 8 * 1024 * 1024;
const aggregatedType = (version: string) =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
const accept = `${aggregatedType("v2")},${aggregatedType("v2beta1")}`;
const aggregator = { name: "system:kube-aggregator", uid: "", extra: new Map() };

export interface DiscoveryDownloadParts {
  readonly backends: Pick<AggregatedBackends, "get">;
  readonly clock: Clock;
}

/** A state of the resources of an extension server, identified by an entity tag. */
export interface ServerResources {
  readonly resources: DiscoveredResources;
  /** "" if there is none. */
  readonly etag: string;
}

/** The resources that a download has found, and the group versions that could not be read. */
export interface DiscoveryDownload extends ServerResources {
  readonly failed: ReadonlySet<string>;
}

/**
 * Downloads the discovery of an extension server: as one document, or for each group version if the server lacks that
 * document.
 * @param known result of an earlier download
 * @throws Error, or the reason of the signal, if nothing could be read
 */
export async function downloadDiscovery(
  parts: DiscoveryDownloadParts,
  remote: RemoteApi,
  versions: readonly GroupVersion[],
  known: ServerResources | undefined,
  signal: AbortSignal,
): Promise<DiscoveryDownload> {
  const tag: [string, string][] = known === undefined || known.etag === "" ? [] : [["if-none-match", known.etag]];
  const whole = await get(parts, remote, "/apis", [["accept", accept], ...tag], ["system:masters"], signal);
  if (whole.code === 304 && known !== undefined) return { ...known, failed: new Set() };
  if (whole.code === 503) throw new Error("the extension server answered 503");
  if (whole.code === 200 && isAggregated(headerOf(whole, "content-type"))) {
    return { resources: readAggregatedDiscovery(whole.body), etag: headerOf(whole, "etag"), failed: new Set() };
  }
  return downloadEach(parts, remote, versions, signal);
}

async function downloadEach(
  parts: DiscoveryDownloadParts,
  remote: RemoteApi,
  versions: readonly GroupVersion[],
  signal: AbortSignal,
): Promise<DiscoveryDownload> {
  const resources = new Map<string, readonly DiscoveredResource[]>();
  const failed = new Set<string>();
  for (const groupVersion of versions) {
    const apiVersion = apiVersionOf(groupVersion);
    // A server that does not answer fails the whole download, so that its other versions cost no more time.
    const listed = await get(
      parts,
      remote,
      groupVersionPath(groupVersion),
      [["accept", "application/json"]],
      [],
      signal,
    );
    try {
      if (listed.code !== 200) throw new Error(`the extension server answered ${listed.code}`);
      resources.set(apiVersion, readResourceList(listed.body));
    } catch {
      failed.add(apiVersion);
    }
  }
  return { resources, etag: "", failed };
}

async function get(
  { backends, clock }: DiscoveryDownloadParts,
  remote: RemoteApi,
  target: string,
  headers: [string, string][],
  groups: readonly string[],
  signal: AbortSignal,
): Promise<BackendDocument> {
  using deadline = new Deadline(clock, timeoutMs, signal);
  const outgoing = { target, headers, user: { ...aggregator, groups }, signal: deadline.signal };
  return await deadline.race(backends.get(remote, outgoing, bytesMax));
}

function isAggregated(contentType: string): boolean {
  return parseAccept(contentType).some(
    ({ type, subtype, parameters }) =>
      `${type}/${subtype}` === "application/json" &&
      parameters.get("g") === "apidiscovery.k8s.io" &&
      parameters.get("as") === "APIGroupDiscoveryList" &&
      (parameters.get("v") === "v2" || parameters.get("v") === "v2beta1"),
  );
}

function headerOf({ headers }: BackendDocument, wanted: string): string {
  return headers.find(([name]) => name === wanted)?.[1] ?? "";
}
