import { expect, test } from "vitest";
import { networkOf } from "../../shared/kernel/ip-addresses.ts";

test("an IPv4 address in any notation is its own network", () => {
  for (const address of ["203.0.113.7", "::ffff:203.0.113.7", "::FFFF:203.0.113.7"])
    expect(networkOf(address)).toBe("203.0.113.7");
});

test("IPv6 addresses belong to the same network if they share the /64", () => {
  const same = [
    "2001:db8:1:2::1",
    "2001:db8:1:2:ffff:ffff:ffff:ffff",
    "2001:0DB8:0001:0002::",
    "2001:db8:1:2:0:0:0:1",
  ];
  expect(new Set(same.map(networkOf))).toEqual(new Set(["2001:db8:1:2::/64"]));
  expect(networkOf("2001:db8:1:3::1")).toBe("2001:db8:1:3::/64");
  expect(networkOf("2001:db8::1")).toBe("2001:db8:0:0::/64");
  expect(networkOf("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
  expect(networkOf("::1")).toBe("0:0:0:0::/64");
});
