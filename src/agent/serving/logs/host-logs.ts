import { constants, type Stats } from "node:fs";
import { type FileHandle, open, readdir, readlink, realpath } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { TextError } from "../../../api/status.ts";
import type { HttpResponse } from "../../../request/exchange.ts";
import type { RouteCall } from "../route.ts";

/** Entries of a directory that are listed. Further ones are left out. */
const listedEntriesMax = 10_000;
const chunkBytes = 64 * 1024;

/**
 * Answers `/logs/{path}`: files below the directory, and listings of directories. Links may lead elsewhere below the
 * directory, but not out of it.
 * @throws TextError 404
 */
export async function hostLogs(directory: string, { target, request }: RouteCall): Promise<HttpResponse> {
  const { file, path } = await openBelow(directory, target.segments.slice(1));
  const stats = await file.stat();
  if (!stats.isFile()) {
    await file.close();
    if (stats.isDirectory()) return listing(path, request.rawPath);
    throw notFound();
  }
  return {
    kind: "stream",
    code: 200,
    headers: fileHeaders(path, stats),
    async run(sink) {
      try {
        const length = stats.size;
        for (let at = 0; at < length && !sink.signal.aborted; ) {
          const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, length - at));
          const { bytesRead } = await file.read(chunk, 0, chunk.byteLength, at);
          if (bytesRead === 0) break;
          at += bytesRead;
          if (!sink.write(chunk.subarray(0, bytesRead))) await sink.drained();
        }
      } finally {
        await file.close();
      }
    },
  };
}

/**
 * Opens a file, and checks where it really is: links may change between a check and the opening.
 * @throws TextError 404 if it is absent or outside the directory
 */
async function openBelow(directory: string, segments: readonly string[]): Promise<{ file: FileHandle; path: string }> {
  let file: FileHandle | undefined;
  try {
    const root = await realpath(directory);
    // Opening a pipe would wait for its writer otherwise.
    file = await open(join(root, ...segments), constants.O_RDONLY | constants.O_NONBLOCK);
    const path = await readlink(`/proc/self/fd/${file.fd}`);
    if (path === root || path.startsWith(root + sep)) return { file, path };
  } catch {
    // Absent, not readable, or too many links.
  }
  await file?.close();
  throw notFound();
}

function fileHeaders(path: string, { mtime }: Stats): [string, string][] {
  const isText = !/\.(?:gz|xz|zst|bz2)$/.test(basename(path));
  return [
    ["content-type", isText ? "text/plain; charset=utf-8" : "application/octet-stream"],
    ["last-modified", mtime.toUTCString()],
    ["x-content-type-options", "nosniff"],
  ];
}

async function listing(path: string, rawPath: string): Promise<HttpResponse> {
  const [own = ""] = rawPath.split("?");
  // Relative links of a page work only with the slash.
  if (!own.endsWith("/")) {
    return { kind: "reply", code: 301, headers: [["location", `${basename(own)}/`]], body: new Uint8Array() };
  }
  const entries = (await readdir(path, { withFileTypes: true })).slice(0, listedEntriesMax);
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const lines = names.map(
    (name) => `<a href="${encodeURIComponent(name).replace(/%2F$/, "/")}">${escaped(name)}</a>\n`,
  );
  const body = Buffer.from(
    `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${lines.join("")}</pre>\n`,
  );
  return { kind: "reply", code: 200, headers: [["content-type", "text/html; charset=utf-8"]], body };
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] as string);
}

function notFound(): TextError {
  return new TextError(404, "404 page not found\n");
}
