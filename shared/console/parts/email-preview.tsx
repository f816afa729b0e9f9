import { SegmentedControl } from "@mantine/core";
import { useEffect, useRef, useState } from "react";

interface EmailPreviewProps {
  html: string;
  title: string;
}

/**
 * An email in a frame with a policy of its own, because that of the console forbids the styles of
 * emails. The sandbox runs no scripts and follows no links.
 */
export function EmailPreview({ html, title }: EmailPreviewProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [isLoaded, setLoaded] = useState(false);
  const [width, setWidth] = useState("desktop");
  useEffect(() => {
    const body = frame.current?.contentDocument?.documentElement;
    if (isLoaded && body) body.innerHTML = html;
  }, [isLoaded, html]);
  return (
    <div className="email-preview">
      <SegmentedControl
        aria-label="Width"
        size="xs"
        value={width}
        onChange={setWidth}
        data={[
          { value: "desktop", label: "Desktop" },
          { value: "phone", label: "Phone" },
        ]}
      />
      <iframe
        ref={frame}
        className={width}
        title={title}
        src="/app/preview"
        sandbox="allow-same-origin"
        onLoad={() => setLoaded(true)}
      />
    </div>
  );
}
