import { expect, test } from "bun:test";
import type { Pod } from "../../api/types/core-v1.ts";
import { isStaticPod, keepApiPod } from "./pod-source.ts";

const podWith = (annotations?: Record<string, string>): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", ...(annotations === undefined ? {} : { annotations }) },
});

test("a pod of the node is static", () => {
  expect(isStaticPod(podWith({ "kubernetes.io/config.source": "file" }))).toBe(true);
  expect(isStaticPod(podWith())).toBe(false);
});

test("attack 91: an annotation makes no static pod of a pod from the API", () => {
  const pod = podWith({ "kubernetes.io/config.source": "file", a: "b" });
  keepApiPod(pod);
  expect(isStaticPod(pod)).toBe(false);
  expect(pod.metadata.annotations).toEqual({ "kubernetes.io/config.source": "api", a: "b" });
});

test("a pod without the annotation gets none", () => {
  const pod = podWith();
  keepApiPod(pod);
  expect(pod).toEqual(podWith());
});
