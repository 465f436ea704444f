import type { Writer } from "protobufjs/minimal.js";

let minimal: typeof import("protobufjs/minimal.js") | undefined;

/** An empty message. The library is loaded for the first one: a server that is asked for none starts without it. */
export function newWriter(): Writer {
  minimal ??= require("protobufjs/minimal.js") as typeof import("protobufjs/minimal.js");
  return minimal.Writer.create();
}
