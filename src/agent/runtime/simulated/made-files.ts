import type { Pod, VolumeMount } from "../../../api/types/core-v1.ts";
import type { ShellFiles } from "./shell/run-shell.ts";

/** Files of all containers of a node. The oldest are forgotten. */
const filesMax = 10_000;

/**
 * The files that containers of a node have made: their names only. Those in an emptyDir are seen by the containers of the
 * pod, those in a hostPath by all containers of the node, and others by the container itself.
 */
export class MadeFiles {
  /** Places of files, the oldest first. */
  readonly #places = new Set<string>();

  /** Returns the files as a container sees them. */
  seenBy(containerId: string, pod: Pod, mounts: readonly VolumeMount[]): ShellFiles {
    const folders = mounts.flatMap((mount) => {
      const place = placeOf(pod, mount.name);
      return place === undefined
        ? []
        : [{ path: withSlash(mount.mountPath), place: `${place}/${mount.subPath ?? ""}` }];
    });
    // The innermost mount decides.
    folders.sort((a, b) => b.path.length - a.path.length);
    const placeOfFile = (path: string): string => {
      const folder = folders.find((one) => path.startsWith(one.path));
      return folder === undefined
        ? `${podPrefix(pod)}${containerId}${path}`
        : folder.place + path.slice(folder.path.length);
    };
    return {
      has: (path) => this.#places.has(placeOfFile(path)),
      add: (path) => this.#add(placeOfFile(path)),
    };
  }

  /** Forgets the files that only the containers of a pod have seen. */
  forget(podUid: string): void {
    for (const place of this.#places) if (place.startsWith(`pod ${podUid} `)) this.#places.delete(place);
  }

  #add(place: string): void {
    const [oldest] = this.#places;
    if (this.#places.size >= filesMax && oldest !== undefined) this.#places.delete(oldest);
    this.#places.add(place);
  }
}

/** Returns undefined for a volume in which containers make no files. */
function placeOf(pod: Pod, volumeName: string): string | undefined {
  const volume = pod.spec?.volumes?.find(({ name }) => name === volumeName);
  if (volume?.emptyDir !== undefined) return `${podPrefix(pod)}volume ${volumeName}`;
  return volume?.hostPath === undefined ? undefined : `host ${volume.hostPath.path}`;
}

function podPrefix({ metadata: { uid = "" } }: Pod): string {
  return `pod ${uid} `;
}

function withSlash(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}
