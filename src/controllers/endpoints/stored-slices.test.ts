import { expect, test } from "bun:test";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import { managedByLabel, serviceNameLabel } from "../../kinds/discovery/endpoint-slice-labels.ts";
import { ControllerTest } from "../testing.ts";
import { StoredSlices } from "./stored-slices.ts";

const resource = "endpointslices.discovery.k8s.io";

const slice = (name: string, service: string, manager = "ours") => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name, namespace: "n", labels: { [serviceNameLabel]: service, [managedByLabel]: manager } },
  addressType: "IPv4",
  endpoints: [],
});

test("slices are found by their service, before and after changes", async () => {
  await using objects = await ControllerTest.open();
  await objects.create(resource, slice("b", "web"));
  const slices = new StoredSlices(objects.registry(resource), objects.store, "ours");
  const changed: string[] = [];
  using _following = slices.follow((service) => void changed.push(service));
  await objects.create(resource, slice("a", "web"));
  await objects.create(resource, slice("c", "web", "theirs"));
  await objects.create(resource, slice("d", ""));
  const namesOf = (service: string) => slices.of("n", service).map(({ metadata }) => metadata.name);
  expect([namesOf("web"), namesOf("db"), changed.splice(0)]).toEqual([["a", "b"], [], ["n/web"]]);
  const moved = ({ metadata, ...rest }: EndpointSlice) => ({
    ...rest,
    metadata: { ...metadata, labels: { ...metadata.labels, [serviceNameLabel]: "db" } },
  });
  await objects.update(resource, "a", moved);
  expect([namesOf("web"), namesOf("db"), changed.splice(0)]).toEqual([["b"], ["a"], ["n/db", "n/web"]]);
  await objects.delete(resource, "b");
  expect([namesOf("web"), changed.splice(0)]).toEqual([[], ["n/web"]]);
});
