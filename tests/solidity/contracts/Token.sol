// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// OpenZeppelin's ERC20 with a cap of its own.
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

contract Token is ERC20 {
    uint constant CAP = 1000;
    uint minted;

    constructor() ERC20("Token", "TOK") {}

    function mint(uint amount) public {
        require(amount <= CAP && minted <= CAP - amount);
        minted += amount;
        _mint(msg.sender, amount);
    }

    function capped() public view {
        assert(minted <= CAP); // expect: safe
    }

    function unused() public view {
        assert(minted != 3); // expect: unsafe
    }
}
