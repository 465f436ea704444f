import type { Writer } from "protobufjs/minimal.js";

let minimal: typeof import("protobufjs/minimal.js") | undefined;

/**
 * Returns a writer of an empty message. The library is loaded on first use, to keep it out of the start of the server.
 */
export function newWriter(): Writer {
  minimal ??= require("protobufjs/minimal.js") as typeof import("protobufjs/minimal.js");
  return minimal.Writer.create();
}
