import { installTools } from '../../tools/install.mjs';

export default installTools;
