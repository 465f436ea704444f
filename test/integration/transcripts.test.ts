import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readCases } from "../vectors/replay.ts";
import { referenceOptions, replayTranscripts } from "../vectors/transcripts.ts";
import { TestServer } from "./server.ts";

const directory = join(import.meta.dir, "../fixtures/transcripts");

test.each(readdirSync(directory).filter((name) => name.endsWith(".jsonl.gz")))(
  "the requests of %s are answered as the reference answered them",
  async (file) => {
    await using server = await TestServer.start(referenceOptions);
    const replay = await replayTranscripts(server);
    const differences: unknown[] = [];
    for (const transcript of readCases(join(directory, file))) {
      const difference = await replay(transcript);
      if (difference !== undefined) differences.push(difference);
    }
    expect(differences).toEqual([]);
  },
  120_000,
);
