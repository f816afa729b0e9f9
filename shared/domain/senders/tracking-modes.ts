// Who records opens and clicks of a sending config. Apart from the configs, because the code that
// renders mail needs no provider.
export const trackingModes = ["provider", "own", "off"] as const;
export type TrackingMode = (typeof trackingModes)[number];
/** The mode of a config without one. A server that speaks SMTP reports nothing. */
export const trackingOf = ({
  tracking,
  provider,
}: {
  tracking?: TrackingMode | undefined;
  provider: string;
}): TrackingMode => tracking ?? (provider === "smtp" ? "own" : "provider");
