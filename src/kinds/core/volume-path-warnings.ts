import type { Volume, VolumeProjection } from "../../api/types/core-v1.ts";

/** Number of pairs that are warned about for one volume. */
const pairsMax = 100;

/** A file in a volume, and the source that it comes from. */
interface PlacedFile {
  readonly path: string;
  /** Empty where the volume has one source. */
  readonly source: string;
}

/** Warns about files of one volume that would overwrite each other, or of which one would be a folder. */
export function overlapWarnings(volumes: readonly Volume[]): string[] {
  return volumes.flatMap((volume) => [
    ...itemWarnings(volume, () => `ConfigMap ${quote(volume.configMap?.name)}`, volume.configMap?.items),
    ...itemWarnings(volume, () => `Secret ${quote(volume.secret?.secretName)}`, volume.secret?.items),
    ...itemWarnings(volume, () => "DownwardAPI", volume.downwardAPI?.items),
    ...projectionWarnings(volume),
  ]);
}

function itemWarnings(
  { name }: Volume,
  source: () => string,
  items: readonly { readonly path: string }[] | undefined,
): string[] {
  if (items === undefined) return [];
  const files = items.map(({ path }) => ({ path, source: "" }));
  return overlaps(files).map((text) => `volume ${quote(name)} (${source()}): overlapping paths: ${text}`);
}

function projectionWarnings({ name, projected }: Volume): string[] {
  const sources = projected?.sources ?? [];
  const title = `volume ${quote(name)} (Projected)`;
  return [
    ...sources.filter(isEmpty).map(() => `${title} has no sources provided`),
    ...overlaps(sources.flatMap(filesOf)).map((text) => `${title}: overlapping paths: ${text}`),
  ];
}

function isEmpty(source: VolumeProjection): boolean {
  return Object.keys(source).length === 0;
}

/** Upstream considers only the first source of a projection that has paths. */
function filesOf(projection: VolumeProjection): PlacedFile[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = projection;
  const placed = (items: readonly { readonly path: string }[], source: string) =>
    items.map(({ path }) => ({ path, source }));
  if (configMap?.items !== undefined) return placed(configMap.items, `ConfigMap ${quote(configMap.name)}`);
  if (secret?.items !== undefined) return placed(secret.items, `Secret ${quote(secret.name)}`);
  if (downwardAPI?.items !== undefined) return placed(downwardAPI.items, "DownwardAPI");
  if (serviceAccountToken !== undefined) return placed([serviceAccountToken], "ServiceAccountToken");
  if (clusterTrustBundle !== undefined) {
    const { name = clusterTrustBundle.signerName } = clusterTrustBundle;
    return placed([clusterTrustBundle], `ClusterTrustBundle ${quote(name)}`);
  }
  const { certificateChainPath = "", keyPath = "", credentialBundlePath = "" } = podCertificate ?? {};
  return [
    { path: certificateChainPath, source: "PodCertificate chain" },
    { path: keyPath, source: "PodCertificate key" },
    { path: credentialBundlePath, source: "PodCertificate credential bundle" },
  ].filter(({ path }) => path !== "");
}

function overlaps(files: readonly PlacedFile[]): string[] {
  const texts: string[] = [];
  const before: PlacedFile[] = [];
  for (const { path, source } of files) {
    const file = { path: withoutSlashes(path), source };
    for (const other of before) {
      if (texts.length >= pairsMax) return texts;
      if (isInTheWay(file.path, other.path)) texts.push(`${fileText(file)} with ${fileText(other)}`);
    }
    before.push(file);
  }
  return texts;
}

/** True for equal paths, and where one is a folder above the other. */
function isInTheWay(one: string, other: string): boolean {
  if (one === "" || other === "") return false;
  return `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end--;
  return path.slice(0, end);
}

function fileText({ path, source }: PlacedFile): string {
  return source === "" ? quote(path) : `${quote(path)} (${source})`;
}

function quote(text = ""): string {
  return JSON.stringify(text);
}
