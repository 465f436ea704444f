import { type FSWatcher, watch } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Pod } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import { thrownText } from "../../process/thrown-text.ts";
import { seenAnnotation } from "../pods/pod-source.ts";

/** Time between two readings of all files, as kubelet's fileCheckFrequency. */
const readIntervalMs = 20_000;
/** Quiet time before changed files are read. Editors write a file in several steps. */
const settleMs = 100;
/** Number of files that are read. */
const filesMax = 1_000;

/** The part of the agent that runs pods. */
export interface PodSink {
  podChanged(pod: Pod): void;
  podGone(pod: Pod): void;
}

export interface StaticPodsParts {
  /** The agent's `--pod-manifest-path`: a file, or a folder of files. */
  readonly path: string;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly sinks: readonly PodSink[];
  readonly onError: (error: unknown) => void;
}

/** Tells about the pods that are described by files of this machine, and follows the files. */
export class StaticPods implements Disposable {
  readonly #parts: StaticPodsParts;
  /** By uid. */
  #pods: ReadonlyMap<string, Pod> = new Map();
  readonly #timer: Disposable;
  readonly #watcher: FSWatcher | undefined;
  #settling: Disposable | undefined;
  #reading: Promise<void> = Promise.resolve();
  #stopped = false;

  /** Reads the files once before it returns, so that no container of a static pod counts as left over. */
  static async open(parts: StaticPodsParts): Promise<StaticPods> {
    const opened = new StaticPods(parts);
    await opened.#read();
    return opened;
  }

  private constructor(parts: StaticPodsParts) {
    this.#parts = parts;
    const { clock, path } = parts;
    this.#timer = clock.every(readIntervalMs, () => void this.#read());
    this.#watcher = watchPath(path, () => {
      this.#settling?.[Symbol.dispose]();
      this.#settling = clock.after(settleMs, () => void this.#read());
    });
  }

  get pods(): readonly Pod[] {
    return [...this.#pods.values()];
  }

  /** Stops following the files. The pods stay. */
  [Symbol.dispose](): void {
    this.#stopped = true;
    this.#timer[Symbol.dispose]();
    this.#settling?.[Symbol.dispose]();
    this.#watcher?.close();
  }

  #read(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#readNow()).catch(this.#parts.onError);
    return this.#reading;
  }

  async #readNow(): Promise<void> {
    if (this.#stopped) return;
    const found = new Map<string, Pod>();
    const names = new Set<string>();
    for (const path of await this.#files()) {
      const pod = await this.#podIn(path);
      if (pod === undefined) continue;
      const { namespace, name, uid = "" } = pod.metadata;
      if (names.has(`${namespace}/${name}`)) {
        this.#parts.onError(new Error(`${path}: another file has a pod with the name ${namespace}/${name}`));
        continue;
      }
      names.add(`${namespace}/${name}`);
      // The time of an unchanged pod stays that of its first sight.
      found.set(uid, this.#unchanged(pod) ?? pod);
    }
    if (this.#stopped) return;
    const before = this.#pods;
    this.#pods = found;
    for (const [uid, pod] of before) if (!found.has(uid)) this.#tell((sink) => sink.podGone(pod));
    for (const [uid, pod] of found) if (before.get(uid) !== pod) this.#tell((sink) => sink.podChanged(pod));
  }

  #tell(call: (sink: PodSink) => void): void {
    for (const sink of this.#parts.sinks) call(sink);
  }

  #unchanged(pod: Pod): Pod | undefined {
    const known = this.#pods.get(pod.metadata.uid ?? "");
    return known !== undefined && Bun.deepEquals(comparable(known), comparable(pod)) ? known : undefined;
  }

  async #files(): Promise<string[]> {
    const { path } = this.#parts;
    const facts = await stat(path).catch(() => undefined);
    if (facts === undefined) {
      this.#parts.onError(new Error(`${path}: path does not exist, ignoring`));
      return [];
    }
    if (facts.isFile()) return [path];
    if (!facts.isDirectory()) throw new Error(`${path}: path is not a directory or file`);
    const names = (await readdir(path)).filter((name) => !name.startsWith(".")).sort();
    if (names.length > filesMax) this.#parts.onError(new Error(`${path} has more than ${filesMax} files`));
    return names.slice(0, filesMax).map((name) => join(path, name));
  }

  /** Returns undefined for a file that has no pod. */
  async #podIn(path: string): Promise<Pod | undefined> {
    // Reading pods takes the rules of all kinds, which an agent without static pods never loads.
    const { parseStaticPod, staticPodBytesMax } = await import("./static-pod-file.ts");
    const { nodeName, clock, onError } = this.#parts;
    try {
      const facts = await stat(path);
      if (!facts.isFile()) throw new Error("not a file, and not read");
      if (facts.size > staticPodBytesMax) throw new Error("the read limit is reached");
      return parseStaticPod(await readFile(path), { path, nodeName, nowMs: clock.nowMs() });
    } catch (error) {
      onError(new Error(`Could not process manifest file ${path}: ${thrownText(error)}`));
      return undefined;
    }
  }
}

function comparable({ metadata, ...rest }: Pod): unknown {
  const { [seenAnnotation]: _, ...annotations } = metadata.annotations ?? {};
  return { ...rest, metadata: { ...metadata, annotations } };
}

/** Returns undefined where the system sends no notifications. The files are then read at intervals only. */
function watchPath(path: string, onChange: () => void): FSWatcher | undefined {
  for (const [folder, name] of [
    [path, undefined],
    [dirname(path), basename(path)],
  ] as const) {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, changed) => {
        if (name === undefined || changed === null || changed === name) onChange();
      });
      watcher.on("error", () => watcher.close());
      return watcher;
    } catch {
      // A path that does not exist yet is watched for in its folder.
    }
  }
  return undefined;
}
