import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

const productName = "Pennymail";

/**
 * The title of the window is the heading of the page. After a way to another page, the focus goes
 * to its heading, which screen readers then say, unless the page has put it somewhere itself.
 */
export function usePageTitle(): void {
  const router = useRouter();
  useEffect(() => {
    let isArriving = false;
    const show = () => {
      const heading = document.querySelector("h1");
      document.title = heading?.textContent
        ? `${heading.textContent} · ${productName}`
        : productName;
      if (!heading || !isArriving) return;
      isArriving = false;
      if (document.activeElement?.closest("main, [role=dialog]")) return;
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
    };
    // Pages show their heading when its record was read.
    const observer = new MutationObserver(show);
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    const stop = router.subscribe("onRendered", ({ pathChanged, fromLocation }) => {
      if (!pathChanged || !fromLocation) return;
      isArriving = true;
      show();
    });
    show();
    return () => {
      observer.disconnect();
      stop();
    };
  }, [router]);
}
