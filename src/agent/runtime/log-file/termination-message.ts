import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { thrownText } from "../../../process/thrown-text.ts";
import { parseEntry } from "./log-reader.ts";

/** Longest message that a container leaves in its file, as kubelet's. The end of a longer one is kept. */
const messageBytesMax = 4096;
/** Longest part of the log that stands in for a message. */
const logBytesMax = 2048;
const logLinesMax = 80;
/** Bytes of the end of a log in which its last lines are looked for. */
const logTailBytes = 64 * 1024;

/** Returns the text that a container has left in its file, in kubelet's words if it cannot be read. */
export function readMessageFile(path: string): string {
  try {
    return tailOf(path, messageBytesMax).toString();
  } catch (error) {
    return `Error on reading termination log ${path}: ${thrownText(error)}`;
  }
}

/** Returns the end of a log, which stands in for the message of a container that has failed without one. */
export function readLogEnd(path: string): string {
  try {
    const lines = tailOf(path, logTailBytes).toString("latin1").split("\n");
    const texts = lines.map((line) => parseEntry(Buffer.from(line, "latin1"))?.text ?? Buffer.alloc(0));
    const text = Buffer.concat(texts.filter(({ length }) => length > 0).slice(-logLinesMax));
    return text.subarray(-logBytesMax).toString();
  } catch (error) {
    return `Error on reading termination message from logs: ${thrownText(error)}`;
  }
}

/** Returns the last bytes of a file; none if it is gone. */
function tailOf(path: string, bytesMax: number): Buffer {
  let file: number;
  try {
    // A pipe that a pod mounts as its file is not waited for.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, bytesMax));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, size - bytes.length));
  } finally {
    closeSync(file);
  }
}
