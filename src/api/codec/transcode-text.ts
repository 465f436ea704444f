import type { ProtobufOutput } from "./protobuf-output.ts";
import { backslash, letterU, type StoredJsonReader } from "./stored-json-reader.ts";

const hexDigits = 4;

/** Reads a text of JSON and writes it in UTF-8, with its length. */
export function transcodeText(json: StoredJsonReader, output: ProtobufOutput): void {
  const end = json.plainTextEnd();
  if (end === undefined) {
    transcodeEscapes(json, output);
    return;
  }
  const start = json.at + 1;
  output.copyWithLength(json.bytes, start, end);
  json.at = end + 1;
}

function transcodeEscapes(json: StoredJsonReader, output: ProtobufOutput): void {
  const end = json.textEnd(json.at + 1);
  const { bytes } = json;
  // No character is longer in UTF-8 than its escape.
  output.makeRoom(end - json.at);
  const opened = output.open();
  for (let at = json.at + 1; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte !== backslash) {
      output.byte(byte);
      continue;
    }
    const escape = bytes[++at] as number;
    if (escape === letterU) {
      writeCharacter(output, json.hexNumber(at + 1));
      at += hexDigits;
    } else {
      output.byte(simpleEscapes[escape] as number);
    }
  }
  output.close(opened);
  json.at = end + 1;
}

/** The byte that stands behind a backslash, by index, and the one that it means. */
const simpleEscapes = new Uint8Array(0x80);
for (const [letter, meaning] of [
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
] as const) {
  simpleEscapes[letter.charCodeAt(0)] = meaning.charCodeAt(0);
}

function writeCharacter(output: ProtobufOutput, code: number): void {
  if (code < 0x80) {
    output.byte(code);
    return;
  }
  if (code < 0x800) {
    output.byte(0xc0 | (code >> 6));
  } else {
    output.byte(0xe0 | (code >> 12));
    output.byte(0x80 | ((code >> 6) & 0x3f));
  }
  output.byte(0x80 | (code & 0x3f));
}
