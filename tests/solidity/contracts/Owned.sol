// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// OpenZeppelin's Ownable. That its modifier ends with an error of its own type is outside of what
// solc models, so what only the owner may do is required here.
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

contract Owned is Ownable {
    uint public fee;
    bool public changed;

    constructor() Ownable(msg.sender) {}

    function setFee(uint next) public {
        require(msg.sender == owner());
        require(next <= 100);
        fee = next;
        changed = true;
    }

    function hand(address to) public {
        require(msg.sender == owner());
        _transferOwnership(to);
        assert(owner() == to); // expect: safe
    }

    function bounded() public view {
        assert(fee <= 100); // expect: safe
    }

    function untouched() public view {
        assert(fee == 0 || !changed); // expect: unsafe
    }
}
