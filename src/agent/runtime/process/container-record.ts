import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Container } from "../../../api/types/core-v1.ts";
import type { Sandbox } from "../runtime.ts";
import type { Launch } from "./launch-scripts.ts";
import type { ProcessIdentity } from "./process-table.ts";

export interface TerminationMessage {
  /** Path of the file in the container. */
  readonly containerPath: string;
  /** A container that fails without a message shows the end of its log. */
  readonly fallsBackToLog: boolean;
}

/** The facts of a container that are on disk, so that the next agent finds it again. */
export interface ContainerRecord {
  readonly id: string;
  readonly sandboxId: string;
  readonly podUid: string;
  readonly name: string;
  readonly attempt: number;
  readonly image: string;
  readonly imageRef: string;
  readonly logPath: string;
  readonly launch: Launch;
  /** Paths of the machine that exist only so that something can be mounted there. */
  readonly madePaths: readonly string[];
  readonly isTerminal: boolean;
  readonly stdin: "none" | "once" | "open";
  readonly stopSignal: string;
  readonly resources: NonNullable<Container["resources"]>;
  /** Absent for a container that leaves none. */
  readonly terminationMessage?: TerminationMessage | undefined;
  readonly run?: ContainerRun;
  readonly exit?: ContainerExit;
}

export interface ContainerRun {
  readonly startedAtMs: number;
  readonly supervisor: ProcessIdentity;
  /** Undefined until the supervisor has told. */
  readonly main?: ProcessIdentity;
}

export interface ContainerExit {
  readonly finishedAtMs: number;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
}

/** The folder of one sandbox or container with its record in it. Only the agent's user may enter it. */
export class RecordFolder<T extends ContainerRecord | Sandbox> {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
    mkdirSync(root, { recursive: true, mode: 0o700 });
  }

  folderOf(id: string): string {
    return join(this.#root, id);
  }

  write(record: T): void {
    const folder = this.folderOf(record.id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, recordName);
    // Environments may contain secrets.
    writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  /** Returns the records that can be read. Others are left by a crash while they were made, and are removed. */
  readAll(): T[] {
    return readdirSync(this.#root).flatMap((id) => {
      try {
        return [JSON.parse(readFileSync(join(this.#root, id, recordName), "utf8")) as T];
      } catch {
        this.remove(id);
        return [];
      }
    });
  }

  remove(id: string): void {
    rmSync(this.folderOf(id), { recursive: true, force: true });
  }
}

const recordName = "record.json";
/** File in the folder of a container that it sees at the path of its termination message. */
export const terminationMessageName = "termination-log";
