import { PageHead } from '../ui/parts';

/** The page `message`. */
export default function Page() {
  return <PageHead title="message" />;
}
