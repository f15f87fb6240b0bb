import './buffer';
import { render } from 'preact';
import { App } from './app';
import '../../../console/src/style/tokens.css';
import '../../../console/src/style/base.css';
import '../../../console/src/style/basics.css';
import '../../../console/src/drawing/drawing.css';
import './page.css';

const root = document.getElementById('playground');
if (root !== null) render(<App />, root);
