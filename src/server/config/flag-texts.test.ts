import { expect, test } from "bun:test";
import { flagTexts } from "./flag-texts.ts";

test("every flag has its text in Go's format", () => {
  const texts = flagTexts({
    tlsSan: ["a", "b"],
    requestTimeoutMs: 90_000,
    featureGates: { A: true, B: false },
    securePort: 0,
  });
  expect(texts.get("tls-san")).toBe("[a,b]");
  expect(texts.get("request-timeout")).toBe("1m30s");
  expect(texts.get("feature-gates")).toBe("A=true,B=false");
  expect(texts.get("secure-port")).toBe("0");
  expect(texts.get("in-memory")).toBe("false");
  expect(texts.get("bind-address")).toBe("127.0.0.1");
  expect(texts.get("data-dir")).toBe("");
});
