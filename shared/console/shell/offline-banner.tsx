import { onlineManager } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { t } from "../language/translate.ts";

const isOnline = () => onlineManager.isOnline();
const subscribe = (onChange: () => void) => onlineManager.subscribe(onChange);

/** Reads and changes wait for the network, and go on by themselves. */
export function OfflineBanner() {
  const online = useSyncExternalStore(subscribe, isOnline);
  return (
    <div role="status">
      {!online && (
        <p className="banner">
          {t("You are offline. What you save now is sent when the network is back.")}
        </p>
      )}
    </div>
  );
}
