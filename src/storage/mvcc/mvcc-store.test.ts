import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeContract } from "../../../test/contract/store-contract.ts";
import { MvccStore } from "./mvcc-store.ts";

const root = mkdtempSync(join(tmpdir(), "mvcc-store-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let directories = 0;
const newDirectory = (): string => join(root, `${++directories}`);

storeContract("MvccStore", () => MvccStore.open({ directory: newDirectory() }));
